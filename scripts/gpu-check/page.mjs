/** The page of one GPU's results. */

/** `NVIDIA H200` -> `nvidia-h200` */
export const fileNameOf = ({ name }) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

const table = (header, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
const percent = (ratio) => `${(100 * ratio).toFixed(1)}%`
const milliseconds = (seconds) => (1000 * seconds).toFixed(1)
const tera = (perSecond) => (perSecond / 1e12).toFixed(2)
const whole = (number) => Math.round(number).toLocaleString('en-US')
const gibibytes = (bytes) => (bytes / 2 ** 30).toFixed(1)

function lossTable(loss) {
  const header = [
    'rows',
    'D',
    'V',
    'products',
    'the three products, ms',
    'whole update, ms',
    'fraction',
    'TFLOP/s',
    'row kernel, TB/s',
    'copy, TB/s',
    'fraction',
  ]
  return table(
    header,
    loss.map((r) => [
      r.T,
      r.D,
      r.V,
      r.products,
      milliseconds(r.tripleSeconds),
      milliseconds(r.updateSeconds),
      percent(r.tripleOverUpdate),
      tera(r.updateFlops),
      tera(r.rowKernelBytesPerSecond),
      tera(r.copyBytesPerSecond),
      percent(r.rowKernelOverCopy),
    ]),
  )
}

/** PyTorch's times beside ours at the same shape; a contender that failed says why. */
function torchTable(torch, loss) {
  const rows = torch.flatMap((r) => {
    const ours = loss.find(({ T, D, V }) => T === r.T && D === r.D && V === r.V)
    return ['eager', 'compiled'].map((kind) => {
      const seconds = r[`${kind}Seconds`]
      const times =
        seconds === undefined
          ? [r[`${kind}Error`], '']
          : [milliseconds(seconds), ours ? `${(seconds / ours.updateSeconds).toFixed(2)}x` : '']
      return [r.T, r.D, r.V, `PyTorch ${r.version} ${kind}`, ...times]
    })
  })
  return table(['rows', 'D', 'V', 'contender', 'ms', 'over ours'], rows)
}

const updateTable = (update) =>
  table(
    ['model', 'sequences x tokens', 'forward and backward, ms', 'optimizer, ms', 'tokens/s', 'memory, GiB'],
    update.map((r) => [
      r.model,
      `${r.sequences} x ${r.length}`,
      milliseconds(r.passSeconds),
      milliseconds(r.stepSeconds),
      whole(r.tokensPerSecond),
      gibibytes(r.residentBytes),
    ]),
  )

const decodeTable = (decode) =>
  table(
    ['model', 'sequences', 'context', 'ms a token', 'tokens/s', 'memory, GiB'],
    decode.map((r) => [
      r.model,
      r.sequences,
      r.length,
      milliseconds(r.secondsPerToken),
      whole(r.tokensPerSecond),
      gibibytes(r.residentBytes),
    ]),
  )

/** @param record what scripts/gpu-check.mjs found: date, gpu, outcomes, loss, update, decode, torch, missing */
export function gpuPage({ date, gpu, outcomes, loss, update, decode, torch, missing }) {
  const parts = [
    `# ${gpu.name}`,
    `\`npm run gpu-check\` on ${date}: sm_${gpu.architecture}, driver ${gpu.driver}, ${whole(gpu.memoryMiB)} MiB. The figures are those of the JSON file beside this page.`,
    '## Checks',
    table(
      ['check', 'result', 'seconds'],
      outcomes.map(({ check, result, seconds }) => [check, result, seconds.toFixed(1)]),
    ),
  ]
  const section = (title, about, rows, of) => {
    if (rows.length > 0) parts.push(`## ${title}`, about, of)
  }
  section(
    'LM head, loss and gradients',
    'All rows carry loss, both clipped terms and the KL term. The three products are those of the same chunks, of the same run, with nothing between them; fractions are medians over rounds in which the contenders take turns. Goals: 92% of the products, 90% of a copy.',
    loss,
    lossTable(loss),
  )
  section(
    'PyTorch',
    'The same loss from hidden states to both gradients, in bf16 with fp32 logits.',
    torch,
    torchTable(torch, loss),
  )
  section(
    'Update',
    'Forward, backward and AdamW; a quarter of the tokens carry loss.',
    update,
    updateTable(update),
  )
  section(
    'Decoding',
    'Sampling at temperature 1 after the context is in the cache.',
    decode,
    decodeTable(decode),
  )
  if (missing.length > 0) parts.push('## Not measured', missing.map((text) => `- ${text}`).join('\n'))
  return `${parts.join('\n\n')}\n`
}
