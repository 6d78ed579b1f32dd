import { join } from 'node:path'
import { Environment, Interpreter, Template } from '@huggingface/jinja'
import { SkillgateError } from '../errors.js'
import { readModelJson, readModelText } from './model-files.js'
import { specialTokens } from './special-tokens.js'
import { templateGlobals } from './template-globals.js'

/** A message as templates take it. */
export interface TemplateMessage {
  role: string
  content: string
  name?: string
}

/** A tool, its parameters as a JSON schema. */
export interface TemplateTool {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export interface RenderOptions {
  tools?: readonly TemplateTool[]
  /** Ends the text where the assistant's next turn begins. Default false. */
  addGenerationPrompt?: boolean
  /** Further variables the template knows, e.g. `{ enable_thinking: false }`. */
  variables?: Readonly<Record<string, unknown>>
}

export interface ChatTemplateSource {
  /** One template, or several by name: `tool_use` is taken where tools are given, else `default`. */
  template: string | Readonly<Record<string, string>>
  /** `bos_token`, `eos_token`, ... as the template may write them. */
  specialTokens?: Readonly<Record<string, string>>
  /** What `strftime_now` tells; fixed when the template is made, so that a conversation never changes under way. */
  now?: Date
  /** Named in errors. */
  file?: string
}

/** A model's chat template: messages and tools to the text the model was made for. */
export class ChatTemplate {
  readonly #templates: Map<string, Template>
  readonly #specialTokens: Readonly<Record<string, string>>
  readonly #now: Date
  readonly #file: string

  /**
   * Reads chat_template.jinja, chat_template.json or the `chat_template` of tokenizer_config.json, the first there is.
   * `ERR_CHAT_TEMPLATE` names the files looked for, or the one that is wrong.
   */
  static async load(dir: string, options: { now?: Date } = {}): Promise<ChatTemplate> {
    const files = ['chat_template.jinja', 'chat_template.json', 'tokenizer_config.json'] as const
    const code = 'ERR_CHAT_TEMPLATE'
    const [plain, own, config] = await Promise.all([
      readModelText(join(dir, files[0]), code, { optional: true }),
      readModelJson(join(dir, files[1]), code, { optional: true }),
      readModelJson(join(dir, files[2]), code, { optional: true }),
    ])
    const sources = [plain, own?.chat_template, config?.chat_template]
    const found = sources.findIndex((source) => source !== undefined && source !== null)
    if (found < 0) {
      const message = `${dir}: expected a chat template, found none in ${files.join(', ')}`
      throw new SkillgateError(code, message)
    }
    const file = join(dir, files[found]!)
    const template = namedTemplates(sources[found], file)
    return new ChatTemplate({ template, specialTokens: specialTokens(config ?? {}), file, ...options })
  }

  constructor(source: ChatTemplateSource) {
    this.#file = source.file ?? 'chat template'
    this.#specialTokens = source.specialTokens ?? {}
    this.#now = source.now ?? new Date()
    const named = typeof source.template === 'string' ? { default: source.template } : source.template
    this.#templates = new Map()
    for (const [name, text] of Object.entries(named)) {
      try {
        this.#templates.set(name, new Template(text))
      } catch (cause) {
        const message = `${this.#file}: cannot read template "${name}": ${(cause as Error).message}`
        throw new SkillgateError('ERR_CHAT_TEMPLATE', message, { cause })
      }
    }
    if (this.#templates.size === 0) {
      throw new SkillgateError('ERR_CHAT_TEMPLATE', `${this.#file}: expected at least one template, got none`)
    }
  }

  /** `ERR_CHAT_TEMPLATE` where the template refuses the messages. */
  render(messages: readonly TemplateMessage[], options: RenderOptions = {}): string {
    const tools = options.tools?.length ? options.tools.map(asFunction) : null
    const variables = {
      ...this.#specialTokens,
      documents: null,
      ...options.variables,
      messages: messages.map(plainMessage),
      tools,
      add_generation_prompt: options.addGenerationPrompt ?? false,
    }
    try {
      const scope = new Environment(templateGlobals(this.#now))
      for (const [name, value] of Object.entries(variables)) scope.set(name, value)
      return String(new Interpreter(scope).run(this.#choose(tools !== null).parsed).value)
    } catch (cause) {
      const roles = messages.map((message) => message.role).join(', ')
      const message = `${this.#file}: cannot render ${messages.length} messages (${roles}): ${(cause as Error).message}`
      throw new SkillgateError('ERR_CHAT_TEMPLATE', message, { cause })
    }
  }

  #choose(hasTools: boolean): Template {
    const named = (hasTools ? this.#templates.get('tool_use') : undefined) ?? this.#templates.get('default')
    if (named !== undefined) return named
    if (this.#templates.size === 1) return this.#templates.values().next().value!
    throw new Error(`expected a template named "default", got ${[...this.#templates.keys()].join(', ')}`)
  }
}

function plainMessage({ role, content, name }: TemplateMessage): Record<string, string> {
  return name === undefined ? { role, content } : { role, content, name }
}

function asFunction({ name, description, parameters }: TemplateTool) {
  return { type: 'function', function: { name, description, parameters } }
}

function namedTemplates(source: unknown, file: string): string | Record<string, string> {
  if (typeof source === 'string') return source
  const entries: [string, string][] = []
  for (const item of Array.isArray(source) ? source : Object.entries(source as object)) {
    const [name, template] = Array.isArray(item) ? item : [item?.name, item?.template]
    if (typeof name !== 'string' || typeof template !== 'string') {
      const expected = 'expected chat_template to be a text or a list of { name, template }'
      const got = JSON.stringify(source).slice(0, 100)
      throw new SkillgateError('ERR_CHAT_TEMPLATE', `${file}: ${expected}, got ${got}`)
    }
    entries.push([name, template])
  }
  return Object.fromEntries(entries)
}
