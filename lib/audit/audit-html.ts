import { categoryChart } from '../report/figures/category-chart.js'
import { escapeXml } from '../report/figures/svg.js'
import { figureStyle } from '../report/figures/theme.js'
import type { Audit } from './audit.js'
import { auditCharts } from './charts.js'
import { findings, scope } from './findings.js'
import { tableRows, tableTitles } from './table-cells.js'

const pageStyle = `\
*{box-sizing:border-box}
body{margin:0;background:var(--surface);color:var(--ink);font:16px/1.5 system-ui,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:16px}
h1{font-size:1.6rem;line-height:1.2;margin:.4rem 0}
h2{font-size:1.1rem;line-height:1.3;margin:0 0 .4rem;break-after:avoid}
.rows+h2{margin-top:1.6rem}
p{margin:.4rem 0;max-width:70ch}
.source{overflow-wrap:anywhere;color:var(--muted)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:0 28px;margin:24px 0}
.charts>*{margin-bottom:32px}
section{display:grid;grid-row:span 3;grid-template-rows:subgrid;row-gap:0;align-content:start;break-inside:avoid;min-width:0;max-width:520px}
svg{display:block;width:100%;height:auto;margin-top:12px}
.rows{overflow-x:auto;margin:12px 0}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}
thead th{white-space:normal;vertical-align:bottom;min-width:4.6rem}
th:first-child{text-align:left;position:sticky;left:0;background:var(--surface)}
tbody tr:last-child>*{font-weight:600;border-top:2px solid var(--ink)}
dl{max-width:70ch}
dt{font-weight:600}
dd{margin:0 0 .6rem}
@page{margin:14mm}
@media print{
html{font-size:9.5pt}
body{font-size:9.5pt;line-height:1.35}
main{max-width:none;padding:0}
.charts{grid-template-columns:1fr 1fr;gap:0 8mm;margin:4mm 0 0}
.charts>*{margin-bottom:6mm}
svg{max-width:84mm;margin-top:2mm}
.rows{overflow:visible;break-inside:avoid}
table{font-size:7.4pt}
th,td{padding:.15rem .25rem}
thead th{min-width:0}
th:first-child{position:static}
}`

const headings = { share: 'Share', sign: 'Sign', value: 'Value' } as const

/** The audit as one HTML page that needs nothing else: no script, no font, no other file. */
export function renderAuditHtml(audit: Audit): string {
  const charts = auditCharts(audit)
  const said = findings(audit)
  const sections = (['share', 'sign', 'value'] as const).map((name) => {
    const heading = charts[name].title.replace(`${headings[name]}: `, '')
    const title = `<h2>${headings[name]}: ${escapeXml(heading)}</h2>`
    const drawn = categoryChart(charts[name], { standalone: false })
    return `<section>\n${title}\n<p>${escapeXml(said[name])}</p>\n${drawn}\n</section>`
  })
  const notes = audit.notes.map((note) => `<p>Note: ${escapeXml(note)}.</p>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Credit audit: ${escapeXml(audit.source)}</title>
<style>
${figureStyle}${pageStyle}
</style>
</head>
<body class="figure">
<main>
<h1>Where the credit goes</h1>
<p class="source">${escapeXml(audit.source)}</p>
<p>${escapeXml(scope(audit))}.</p>
${[...notes, '<div class="charts">', ...sections, '</div>'].join('\n')}
<h2>All figures by length</h2>
<div class="rows" tabindex="0">
${tableOf(audit)}
</div>
${definitions(audit)}
</main>
</body>
</html>
`
}

function tableOf(audit: Audit): string {
  const head = tableTitles.map((title) => `<th scope="col">${escapeXml(title)}</th>`).join('')
  const rows = tableRows(audit).map(([first, ...rest]) => {
    const cells = rest.map((cell) => `<td>${escapeXml(cell)}</td>`).join('')
    return `<tr><th scope="row">${escapeXml(first!)}</th>${cells}</tr>`
  })
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody>\n</table>`
}

function definitions({ settings }: Audit): string {
  const meanings = [
    [
      'Share',
      'tokens of read calls, and of the skill names in them, / tokens the policy sampled; the median trajectory.',
    ],
    [
      'Sign',
      'outcome advantage within a group: (reward \u2212 mean) / (SD + 1e-6). Negative: the update makes the read less likely.',
    ],
    [
      'Value',
      `success (reward above ${settings.successAbove}) of the trajectories of a group that read a right skill, minus that of the ` +
        `rest; mean over groups of a task, then over tasks. Interval: ${settings.resamples} bootstrap samples of tasks, seed ${settings.seed}.`,
    ],
    ['Length', 'tokens the policy sampled; a group counts where the median of its trajectories lies.'],
  ]
  const items = meanings.map(([term, text]) => `<dt>${term}</dt><dd>${escapeXml(text!)}</dd>`)
  return `<h2>What is measured</h2>\n<dl>\n${items.join('\n')}\n</dl>`
}
