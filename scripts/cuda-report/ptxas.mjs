/** What `ptxas -v` says of kernels, read from the output of nvcc. */

/** `_ZN..24attention_dq_bf16_kernelILi64EEEv..` -> `attention_dq_bf16_kernel<64>`. */
export function readable(mangled) {
  // A word stands behind its length; the digits before that may belong to what precedes it.
  let name
  let rest = ''
  for (const { 0: digits, index } of mangled.matchAll(/\d+/g)) {
    const start = index + digits.length
    for (let from = 0; from < digits.length && !name; from++) {
      const word = mangled.slice(start, start + Number(digits.slice(from)))
      if (!/^[a-z]\w*_kernel$/.test(word) || word.length !== Number(digits.slice(from))) continue
      name = word
      rest = mangled.slice(start + word.length)
    }
  }
  if (!name?.length || !rest.startsWith('I')) return name ?? mangled
  const parts = []
  let list = rest.slice(1).replace(/S\w?_/g, '')
  while (list && !/^E?Ev/.test(list)) {
    const literal = list.match(/^L[a-z](\d+)E/)
    const length = list.match(/^\d+/)?.[0]
    if (literal) parts.push(literal[1])
    const word = length ? list.slice(length.length, length.length + Number(length)) : ''
    if (word && !word.startsWith('_GLOBAL_')) parts.push(word)
    list = list.slice(literal ? literal[0].length : length ? length.length + word.length : 1)
  }
  return `${name}<${parts.join(', ')}>`
}

/**
 * Each kernel for each architecture: registers a thread, and bytes of shared memory a block (beside what a launch asks for), of local
 * memory a thread (`stack`), and of registers spilled to it and back.
 * @param {string} text
 */
export function kernelsOf(text) {
  const kernels = []
  for (const part of text.split('Compiling entry function ').slice(1)) {
    const number = (pattern) => Number(part.match(pattern)?.[1] ?? 0)
    kernels.push({
      name: readable(part.match(/^'([^']+)'/)[1]),
      architecture: part.match(/for '([^']+)'/)[1],
      registers: number(/Used (\d+) registers/),
      shared: number(/(\d+) bytes smem/),
      stack: number(/(\d+) bytes stack frame/),
      spills: number(/(\d+) bytes spill stores/) + number(/(\d+) bytes spill loads/),
    })
  }
  return kernels
}

/** Lines that complain, and kernels that keep anything in local memory: an access to it is an access to the memory of the device. */
export function problemsOf(text) {
  const complaints = text.split('\n').filter((line) => /\b(warning|error)\b/i.test(line))
  const slow = kernelsOf(text).filter(({ stack, spills }) => stack > 0 || spills > 0)
  return [
    ...complaints,
    ...slow.map(
      ({ name, architecture, stack, spills }) =>
        `${name} (${architecture}): ${stack} bytes of local memory, ${spills} of spills`,
    ),
  ]
}
