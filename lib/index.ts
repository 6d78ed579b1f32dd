/** Trains the agent you run: reinforcement with separate credit for choosing a skill and for executing the task. */

export type {
  BuildInfo,
  LoadOptions,
  MaskTokensInput,
  MaskTokensResult,
  PolicyLossInput,
  PolicyLossResult,
} from './addon/addon-types.js'
export { type Diagnosis, diagnose } from './addon/doctor.js'
export { kernels } from './addon/kernels.js'
export { type Audit, audit } from './audit/audit.js'
export type { AuditOptionsIn as AuditOptions } from './audit/options.js'
export type { CreditMemory, CreditMethod } from './credit/method.js'
export { type FindReadsOptions, findSkillReads, type TurnRead, type TurnTokens } from './credit/reads.js'
export {
  type LabTask,
  type SkillLab,
  type SkillLabOptions,
  skillLab,
} from './environments/skill-lab/index.js'
export { SkillgateError } from './errors.js'
export type { Estimate } from './eval/interval.js'
export { type Measurement, type MeasureName, measureChange, measureTrials } from './eval/measure.js'
export { ChatTemplate } from './policy/chat-template.js'
export { NativePolicy as Policy, type NativePolicyOptions as PolicyOptions } from './policy/native-policy.js'
export type {
  AccumulateRequest,
  AccumulateResult,
  GenerateRequest,
  GenerateResult,
  GenerationSession,
  LossOptions,
  PackedSequences,
  Policy as PolicyInterface,
  SampleOptions,
  StepOptions,
  StepResult,
} from './policy/policy.js'
export { Tokenizer } from './policy/tokenizer.js'
export { type EvaluateConfig, evaluate } from './recipes/evaluate.js'
export type { RunEvent } from './recipes/events.js'
export { type TrainConfig, train } from './recipes/rl.js'
export type { RunResult } from './recipes/run-folder.js'
export { type SelectionBcConfig, selectionBc } from './recipes/selection-bc.js'
export { type SelectionDpoConfig, selectionDpo } from './recipes/selection-dpo.js'
export { type SftConfig, sft } from './recipes/sft.js'
export type {
  Agent,
  AgentSession,
  AssistantTurn,
  RolloutOutcome,
  ToolCall,
  ToolDefinition,
} from './rollout/agent.js'
export type { Demonstration } from './rollout/demonstration.js'
export type { OpenPolicy } from './rollout/setting.js'
export {
  type Tool,
  type ToolContext,
  type ToolEpisode,
  type ToolLoopOptions,
  toolLoop,
} from './rollout/tool-loop.js'
export type {
  DispatchedCall,
  Failure,
  Group,
  Message,
  SkillRead,
  SlateEntry,
  TokenRange,
  Trajectory,
  TrajectorySequence,
} from './rollout/trajectory.js'
export { readTrajectories, type StoredGroup } from './rollout/trajectory-file.js'
export { loadSkillLibrary, SkillLibrary } from './skills/library.js'
export type { Candidate, ReadCategory, Skill, SkillCategory, Slate } from './skills/skill.js'
export { buildSlate, type SlateOptions } from './skills/slate.js'
export type { Task } from './tasks/task.js'
