/** Series after these begin again, with another marker and dash. */
export const seriesColours = 8

const light = `--ink:#1f2328;--muted:#57606a;--grid:#d0d7de;--surface:#ffffff;\
--series-0:#0b5cad;--series-1:#b03a06;--series-2:#1a7044;--series-3:#8a2d8c;--series-4:#7a5a00;--series-5:#3d4b5c;--series-6:#00707a;--series-7:#a11752`
const dark = `--ink:#e6edf3;--muted:#9aa4af;--grid:#3a424c;--surface:#0f141a;\
--series-0:#6cb6ff;--series-1:#f5935c;--series-2:#6cc98f;--series-3:#dd8fe0;--series-4:#d9b648;--series-5:#b6c2cf;--series-6:#5fd0dc;--series-7:#ff8fb5`

/**
 * Colours and type of figures: light or dark as the reader's system asks, light on paper. Every figure has the class `figure`;
 * nothing is told by colour alone.
 */
export const figureStyle = `\
.figure{${light};color-scheme:light dark}
@media (prefers-color-scheme:dark){.figure{${dark}}}
@media print{.figure{${light}}}
.figure text{font-family:system-ui,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif;font-size:12px;fill:var(--ink)}
.figure .title{font-size:14px;font-weight:600}
.figure .muted{fill:var(--muted)}
.figure .note{font-size:11px;fill:var(--muted)}
.figure .value{font-size:11px;font-weight:600;paint-order:stroke;stroke:var(--surface);stroke-width:3px;stroke-linejoin:round}
.figure .inside{fill:var(--surface);stroke:none}
.figure .surface{fill:var(--surface)}
.figure .grid{stroke:var(--grid);stroke-width:1}
.figure .axis{stroke:var(--ink);stroke-width:1.2}
.figure .reference{stroke:var(--muted);stroke-width:1.4;stroke-dasharray:6 4;fill:none}
${Array.from({ length: seriesColours }, (_, i) => `.figure .s${i}{--own:var(--series-${i})}`).join('\n')}
.figure .line{stroke:var(--own);stroke-width:2;fill:none;stroke-linejoin:round}
.figure .whisker{stroke:var(--own);stroke-width:1.6;fill:none}
.figure .over{stroke:var(--ink)}
.figure .halo{stroke:var(--surface);stroke-width:3.2;fill:none}
.figure .band{fill:var(--own);fill-opacity:.16;stroke:none}
.figure .full{fill:var(--own);stroke:var(--own);stroke-width:1.8}
.figure .hollow{fill:var(--surface);stroke:var(--own);stroke-width:1.8}
.figure .dot{fill:var(--surface);stroke:var(--ink);stroke-width:1}
.figure .ground{fill:var(--surface)}
.figure .hatch{stroke:var(--own);stroke-width:2;fill:none}
.figure .edge{stroke:var(--own);stroke-width:1.4}
`
