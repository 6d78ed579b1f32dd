import { describe, expect, it } from 'vitest'

const { kernelsOf, problemsOf, readable } = await import(
  new URL('../../scripts/cuda-report/ptxas.mjs', import.meta.url).href
)

const clean = `ptxas info    : Compiling entry function '_ZN9skillgate4cuda10add_kernelEPfPKfl' for 'sm_80'
ptxas info    : Function properties for _ZN9skillgate4cuda10add_kernelEPfPKfl
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 4096 bytes smem, 384 bytes cmem[0]
`
const spilling = clean
  .replace('sm_80', 'sm_90a')
  .replace('0 bytes stack frame, 0 bytes spill stores, 0', '16 bytes stack frame, 8 bytes spill stores, 4')

describe('what ptxas says', () => {
  it('is read kernel by kernel', () => {
    const kernel = {
      name: 'add_kernel',
      architecture: 'sm_80',
      registers: 32,
      shared: 4096,
      stack: 0,
      spills: 0,
    }
    expect(kernelsOf(clean + spilling)).toEqual([
      kernel,
      { ...kernel, architecture: 'sm_90a', stack: 16, spills: 12 },
    ])
  })

  it('is a problem where a kernel uses local memory or a compiler complains', () => {
    expect(problemsOf(clean)).toEqual([])
    expect(problemsOf(spilling)).toEqual(['add_kernel (sm_90a): 16 bytes of local memory, 12 of spills'])
    expect(problemsOf(`a.cu(3): warning #177-D: variable "x" was declared\n${clean}`)).toHaveLength(1)
  })

  it('names kernels as they are written', () => {
    expect(readable('_ZN9skillgate4cuda24attention_dq_bf16_kernelILi64EEEvPf')).toBe(
      'attention_dq_bf16_kernel<64>',
    )
  })
})
