/** One thing to do. Fields beyond `id` and `prompt` are the user's own and reach the agent function untouched. */
export interface Task {
  id: string
  /** The user message that opens the episode. */
  prompt: string
  /** Skill names that are right for the task (any of them counts); absent or empty: unlabelled. */
  oracle?: readonly string[]
  /** A fixed slate by category; names of skills in the library. Without it the slate is built. */
  slate?: {
    relevant?: readonly string[]
    irrelevant?: readonly string[]
    misleading?: readonly string[]
  }
  /** Known misleading skills for a built slate. */
  misleading?: readonly string[]
  data?: Record<string, unknown>
}
