import type { SystemFacts } from './system.js'

export interface TriedFile {
  file: string
  /** What dlopen said. */
  message: string
  code?: string
}

export interface LoadFailure {
  root: string
  tried: readonly TriedFile[]
  system: SystemFacts
}

const fromSource = 'npm rebuild skillgate --build-from-source'
const toolchain = 'a C++20 compiler (g++ 10 or clang 12 and newer) with cmake 3.22, or with make and python3'

/** Each cause that a message of dlopen shows, and what mends it; the first that fits is told. */
const causes: readonly { shows: RegExp; remedy: (system: SystemFacts, match: RegExpMatchArray) => string }[] =
  [
    {
      shows: /ERR_DLOPEN_DISABLED|loading addons is disabled/,
      remedy: () => 'Node was started with --no-addons (see also NODE_OPTIONS); start it without.',
    },
    {
      shows: /`?(GLIBC(?:XX)?_[\d.]+)'? not found/,
      remedy: ({ libc }, match) =>
        `The binary needs ${match[1]}, and this system has ${libc}. Build it here: ${fromSource}`,
    },
    {
      shows: /ld-linux|musl|symbol not found|Error relocating/,
      remedy: ({ libc }) =>
        libc === 'musl'
          ? `The binary was made for glibc, and this system has musl. Build it here: apk add build-base cmake && ${fromSource}`
          : `The binary was made for another C library. Build it here: ${fromSource}`,
    },
    {
      shows: /(lib[\w+-]+\.so[.\d]*): cannot open shared object file/,
      remedy: (_, match) => `The system lacks ${match[1]}; install it (Debian: apt-get install libstdc++6).`,
    },
    {
      shows: /undefined symbol|invalid ELF|file too short|wrong ELF class|incompatible architecture|mach-o/i,
      remedy: ({ arch }) =>
        `The binary is incomplete or was not built for ${arch}. Build it again: ${fromSource}`,
    },
  ]

/** The message of ERR_ADDON: where, what was tried, why not, and which command mends it. */
export function explainLoadFailure({ root, tried, system }: LoadFailure): string {
  const where = [`${system.platform}-${system.arch}`, system.libc, `Node ${system.node}`]
    .filter(Boolean)
    .join(', ')
  const lines = [`the native addon of skillgate could not be loaded (${where}).`]
  if (tried.length === 0) {
    lines.push(
      `Nothing was found: ${root}/build/Release holds no .node file, and there is no prebuilt one for this platform.`,
      'The install script has not run, or its build failed. Run it, and read what it prints:',
      `  ${fromSource}`,
      '  npm 12 and newer, where scripts are blocked: npm install-scripts approve skillgate && npm rebuild skillgate',
      '  pnpm: pnpm approve-builds    bun: bun pm trust skillgate',
      `It needs ${toolchain}.`,
    )
    return lines.join('\n')
  }
  for (const { file, message } of tried) lines.push(`  tried ${file}: ${message}`)
  lines.push(remedyOf(tried, system))
  return lines.join('\n')
}

function remedyOf(tried: readonly TriedFile[], system: SystemFacts): string {
  for (const { shows, remedy } of causes) {
    for (const { message, code = '' } of tried) {
      const match = `${code} ${message}`.match(shows)
      if (match) return remedy(system, match)
    }
  }
  return `Build it here: ${fromSource} (needs ${toolchain}).`
}
