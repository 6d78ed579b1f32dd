const months = 'January February March April May June July August September October November December'.split(
  ' ',
)
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** Python's `strftime` in the C locale, for the letters chat templates use; others stay as they are. */
export function strftime(date: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const parts: Record<string, () => string> = {
    '%Y': () => String(date.getFullYear()),
    '%y': () => two(date.getFullYear() % 100),
    '%m': () => two(date.getMonth() + 1),
    '%d': () => two(date.getDate()),
    '%-d': () => String(date.getDate()),
    '%B': () => months[date.getMonth()]!,
    '%b': () => months[date.getMonth()]!.slice(0, 3),
    '%A': () => days[date.getDay()]!,
    '%a': () => days[date.getDay()]!.slice(0, 3),
    '%H': () => two(date.getHours()),
    '%M': () => two(date.getMinutes()),
    '%S': () => two(date.getSeconds()),
    '%%': () => '%',
  }
  return format.replace(/%-?[A-Za-z%]/g, (part) => parts[part]?.() ?? part)
}
