/** The `*_token` entries of a tokenizer_config.json, given as text or as `{ content }`: `bos_token`, `eos_token`, ... */
export function specialTokens(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const tokens: Record<string, string> = {}
  for (const [key, value] of Object.entries(config)) {
    const text = typeof value === 'string' ? value : (value as { content?: unknown } | null)?.content
    if (key.endsWith('_token') && typeof text === 'string') tokens[key] = text
  }
  return tokens
}
