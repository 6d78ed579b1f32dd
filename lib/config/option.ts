import { z } from 'zod'

export type Section =
  | 'Model and data'
  | 'Method'
  | 'Rollouts'
  | 'Update'
  | 'Evaluation'
  | 'Measures'
  | 'Run'
  | 'Engine'

/** What is known of an option besides its type, range and default, which its schema says. */
export interface OptionFacts {
  section: Section
  about: string
  unit?: string
  /** Says what is expected where the schema's own words would not do. */
  expects?: string
  /** A file or folder: a relative one in a config file is meant from that file. */
  path?: true
  /** Takes a function or an object, which neither a file nor a flag can hold. */
  programOnly?: true
  /** A checkpoint may be resumed with another value; 'rounding': the last digits of the results then differ. */
  mayChange?: 'freely' | 'rounding'
}

/** Every option's facts, by its schema. */
export const optionFacts = z.registry<OptionFacts>()

export type Shape = Record<string, z.ZodType>

/** A condition on several options at once; says what is wrong, or nothing. Options that failed by themselves are absent. */
export type Rule<S extends Shape> = (options: Partial<z.output<z.ZodObject<S>>>) => string | undefined

/** The options of one recipe. */
export interface OptionSet<S extends Shape = Shape> {
  /** As messages call it, e.g. `train`. */
  recipe: string
  shape: S
  rules: readonly Rule<S>[]
}

/** What a program writes: options with a default may be left out. */
export type OptionsIn<S extends Shape> = z.input<z.ZodObject<S>>
/** What a recipe works with: every default filled in. */
export type OptionsOut<S extends Shape> = z.output<z.ZodObject<S>>

const isFunction = (value: unknown) => typeof value === 'function'
const isObject = (value: unknown) => typeof value === 'object' && value !== null

/** A function a program hands over. */
export const functionOption = <T>() => z.custom<T>(isFunction)
/** An object a program hands over. */
export const objectOption = <T>() => z.custom<T>(isObject)
/** A path, never empty and without the byte that ends a C string. */
export const pathOption = () => z.string().regex(/^[^\0]+$/)
