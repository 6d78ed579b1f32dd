export interface SystemFacts {
  platform: string
  arch: string
  node: string
  /** 'glibc 2.36', 'musl', or '' where there is none. */
  libc: string
}

export function describeSystem(): SystemFacts {
  const { platform, arch, version: node } = process
  return { platform, arch, node, libc: platform === 'linux' ? libcOf(process.report?.getReport()) : '' }
}

function libcOf(report: unknown): string {
  const header = (report as { header?: { glibcVersionRuntime?: string } } | undefined)?.header
  if (!header) return ''
  return header.glibcVersionRuntime ? `glibc ${header.glibcVersionRuntime}` : 'musl'
}
