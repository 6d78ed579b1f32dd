/** What was expected of the methods, and what came out. */
/** Differences from grpo that were expected, and their signs. */
const expectations = [
  { figure: 'success', sign: 1, title: (method) => `success of ${method} above that of grpo` },
  { figure: 'oracleRead', sign: 1, title: (method) => `oracle reads of ${method} above those of grpo` },
  {
    figure: 'misleadingRead',
    sign: -1,
    title: (method) => `misleading reads of ${method} below those of grpo`,
  },
]

export function verdicts({ variants }) {
  return [...verdictsOf('skillgate', variants), ...between(variants), ...kept(variants)].join('\n')
}

/** One line for each expectation of a method: shown where an interval excludes 0, that over tasks and that over seeds. */
export function verdictsOf(method, variants) {
  const differences = variants.find(({ variant }) => variant === method)?.differences
  return expectations.flatMap(({ figure, sign, title }) => {
    const difference = differences?.[figure]
    if (!difference) return []
    const tasks = told(difference, sign)
    const { low, high, runs } = difference.overSeeds
    const seeds =
      low === undefined
        ? 'one seed says nothing of others'
        : `over seeds ${told({ low, high }, sign)} [${points(low)}, ${points(high)}]`
    return [
      `- ${title(method)}: ${points(difference.value)} points; over tasks **${tasks}** [${points(difference.low)}, ${points(difference.high)}]; ${seeds} (${runs} seeds)`,
    ]
  })
}

const points = (value) => (100 * value).toFixed(1)

/** What an interval says of a difference with the sign that was expected. */
export function told({ low, high }, sign) {
  if (sign * low > 0 && sign * high > 0) return 'shown'
  return sign * low < 0 && sign * high < 0 ? 'the opposite' : 'not shown'
}

/** masked-task-only was expected between the two. */
function between(variants) {
  const value = (name) => variants.find(({ variant }) => variant === name)?.figures.oracleRead?.value
  const [low, middle, high] = ['grpo', 'masked-task-only', 'skillgate'].map(value)
  if ([low, middle, high].includes(undefined)) return []
  const holds = Math.min(low, high) <= middle && middle <= Math.max(low, high)
  const values = [low, middle, high].map((one) => (100 * one).toFixed(1)).join(', ')
  return [
    `- oracle reads of masked-task-only between those of grpo and skillgate: **${holds ? 'so it is' : 'not so'}** (grpo, masked-task-only, skillgate: ${values}%)`,
  ]
}

/** How much of what labels gain skillgate-auto gains without them, from the start of both. */
function kept(variants) {
  return ['success', 'oracleRead'].flatMap((figure) => {
    const value = (name) => variants.find(({ variant }) => variant === name)?.figures[figure]?.value
    const [start, auto, labelled] = ['sft', 'skillgate-auto', 'skillgate'].map(value)
    if ([start, auto, labelled].includes(undefined) || labelled <= start) return []
    const share = Math.round((100 * (auto - start)) / (labelled - start))
    const values = [start, auto, labelled].map((one) => (100 * one).toFixed(1)).join(', ')
    const title = figure === 'success' ? 'success' : 'oracle reads'
    return [
      `- skillgate-auto, without labels, has **${share}%** of the gain of skillgate in ${title} (sft, skillgate-auto, skillgate: ${values}%)`,
    ]
  })
}
