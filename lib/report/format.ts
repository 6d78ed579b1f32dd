const absent = '-'

/** Three significant digits, e.g. `0.0312`, `1.24`, `12.4`, `3.1e-7`; `-` for what is no number. */
export function number(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return absent
  if (value === 0 || !Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1)
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))))
}

/** `37.5%`. */
export function percent(fraction: number | undefined): string {
  return fraction === undefined || Number.isNaN(fraction) ? absent : `${(100 * fraction).toFixed(1)}%`
}

/** `842`, `12.4k`, `3.1M`. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return absent
  if (value < 1000) return String(Math.round(value))
  const [unit, name] = value < 1e6 ? [1e3, 'k'] : value < 1e9 ? [1e6, 'M'] : [1e9, 'G']
  return `${(value / unit).toFixed(1)}${name}`
}

/** `7 s`, `3 min 05 s`, `2 h 04 min`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return absent
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
  const minutes = Math.round(whole / 60)
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`
}

/** `37.5% [30.1, 44.9]`, or plain numbers where `as` is `number`. */
export function interval(
  estimate: { value: number; low: number; high: number } | undefined,
  as: 'percent' | 'number' | 'points',
): string {
  if (!estimate) return absent
  const scaled = as === 'number' ? 1 : 100
  const digits = as === 'number' ? 2 : 1
  const [value, low, high] = [estimate.value, estimate.low, estimate.high].map((v) =>
    (v * scaled).toFixed(digits),
  )
  const sign = as === 'points' && estimate.value > 0 ? '+' : ''
  return `${sign}${value}${as === 'percent' ? '%' : ''} [${low}, ${high}]`
}
