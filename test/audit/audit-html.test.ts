import { describe, expect, it } from 'vitest'
import { type Audit, audit } from '../../lib/audit/audit.js'
import { renderAuditHtml } from '../../lib/audit/audit-html.js'
import { formatAudit } from '../../lib/audit/format-audit.js'
import { tagsOf, textBoxes } from '../report/figures/svg-shapes.js'
import { linesOf, record } from './lines-of.js'

/** Two tasks with a mixed group each, 4,000 and 90 tokens long. */
function small(over: Partial<Audit> = {}): Promise<Audit> {
  const group = (task: string, name: number, generated: number, rewards: [number, number]) => [
    record({ task, group: name, generated, reward: rewards[0] }),
    record({ task, group: name, generated, reward: rewards[1], reads: [] }),
  ]
  return audit(linesOf([...group('a', 0, 4000, [1, 0]), ...group('b', 1, 90, [0, 1])])).then((a) => ({
    ...a,
    ...over,
  }))
}
const svgs = (html: string) => html.match(/<svg.*?<\/svg>/gs)!
const texts = (svg: string) => textBoxes(svg).map((box) => box.text)

describe('renderAuditHtml', () => {
  it('has three charts with labelled axes, units and values', async () => {
    const charts = svgs(renderAuditHtml(await small()))
    expect(charts).toHaveLength(3)
    for (const chart of charts)
      expect(texts(chart)).toEqual(expect.arrayContaining(['\u22643k', '3-6k', 'all']))
    const [share, sign, value] = charts.map(texts)
    expect(share).toEqual(
      expect.arrayContaining([
        'Median share of sampled tokens (%, log scale)',
        '0.50',
        '0.10',
        '22.2',
        '4.4',
      ]),
    )
    expect(sign).toEqual(
      expect.arrayContaining([
        'Negative advantage (% of oracle readers)',
        '0.0',
        '100.0',
        '50.0',
        '50%, a coin flip',
      ]),
    )
    expect(value).toEqual(
      expect.arrayContaining([
        'Success gap of oracle readers (percentage points)',
        '+100.0',
        '\u2212100.0',
        '0.0',
      ]),
    )
    for (const chart of charts) tagsOf(chart)
  })

  it('needs nothing from elsewhere', async () => {
    const html = renderAuditHtml(await small())
    expect(html).not.toMatch(/<script|<link|<img|@import|src=|url\((?!#)|https?:/)
    expect(html).toMatch(/<meta name="viewport"/)
    expect(html).toMatch(/prefers-color-scheme:dark/)
    expect(html).toMatch(/@media print/)
  })

  it('escapes the source and the notes', async () => {
    const html = renderAuditHtml(await small({ source: '</title><script>x</script>', notes: ['<b>&'] }))
    expect(html).not.toMatch(/<script|<b>/)
    expect(html).toContain('&lt;script&gt;')
  })

  it('says what cannot be told where nobody reads a skill', async () => {
    const html = renderAuditHtml(
      await audit(linesOf([record({ reads: [] }), record({ reads: [], reward: 0 })])),
    )
    expect(html).toContain('No trajectory read a skill.')
    expect(html).toContain('so that its worth cannot be told')
    expect(svgs(html)).toHaveLength(3)
    expect(html).not.toMatch(/NaN|undefined|null/)
  })
})

describe('formatAudit', () => {
  it('says the three findings, then a row a bin', async () => {
    const lines = formatAudit(await small({ source: 'runs/x', notes: ['something to know'] })).split('\n')
    expect(lines[0]).toBe('Audit of runs/x: 4 trajectories in 2 groups of 2 tasks, 1 step')
    expect(lines[2]).toMatch(
      /^Share {2}.* a median 11\.4% are in read calls and 2\.3% name the skill \(2 trajectories\)\.$/,
    )
    expect(lines[3]).toMatch(
      /^Sign {3}50\.0% of the 2 trajectories .* differs by 0\.00 \(SD 2\.00 over groups\)\.$/,
    )
    expect(lines[4]).toMatch(
      /^Value {2}.* differs by 0\.0 percentage points \(95% interval \u2212100\.0 to \+100\.0, 2 tasks\)\.$/,
    )
    expect(lines.filter((line) => /^(<=3k|3-6k|6-10k|10-16k|>16k|all) /.test(line))).toHaveLength(6)
    expect(lines.find((line) => line.startsWith('3-6k'))!.split(/ {2,}/)).toEqual([
      '3-6k',
      '2',
      '1',
      '0.50',
      '0.10',
      '1',
      '0.0',
      '1',
      '+1.41',
      '-',
      '+100.0',
      '-',
      '1',
    ])
    expect(lines).toContain('Note: something to know.')
  })
})
