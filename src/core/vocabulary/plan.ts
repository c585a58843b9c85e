/** What a task runs: exactly one of a tool, a capability (by slug) or code. */
export type TaskBody =
  | { readonly tool: string; readonly capability?: never; readonly code?: never }
  | { readonly capability: string; readonly tool?: never; readonly code?: never }
  | { readonly code: string; readonly tool?: never; readonly capability?: never };

export type Task = TaskBody & {
  readonly id: string;
  /** `"${t1.items[0].id}"` as the whole string is replaced by the value with its type; inside text, by its text. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
  readonly reason?: string;
  readonly confidence?: number;
  /** Name of a code task in traces and graph: `code:<name>` instead of `code:task`. */
  readonly name?: string;
  /** Time limit of one attempt. */
  readonly timeoutMs?: number;
  /** Only allowed for tasks that may be called twice. */
  readonly retry?: Retry;
  /** Calling the task twice does no harm, whatever the tool's own hints say. */
  readonly idempotent?: boolean;
  /** The task is skipped when this condition is false. */
  readonly when?: Condition;
  /** Runs once per item of a list, given directly or by a reference; `${item}` and `${index}` refer to the item. */
  readonly forEach?: unknown;
};

export interface Retry {
  /** Total number of attempts, including the first. */
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds; doubled before each further one. */
  readonly delayMs: number;
}

export const COMPARISONS = [
  'equals',
  'not_equals',
  'greater_than',
  'at_least',
  'less_than',
  'at_most',
  'contains',
  'in',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * Plain data instead of an expression, so that no input value is ever evaluated as code.
 * A bare reference is true unless it gives false, null, 0, an empty text or list, or does not resolve.
 */
export type Condition =
  | string
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  /** Whether a reference resolves. */
  | { readonly exists: string }
  /** `{value: "${t1.count}", at_least: 3}`; both sides may hold references. */
  | ({ readonly value: unknown } & { readonly [C in Comparison]?: unknown });

export interface PlanInput {
  readonly name: string;
  readonly schema: unknown;
  readonly description?: string;
}

/** Always acyclic. */
export interface Plan {
  readonly tasks: readonly Task[];
  readonly inputs: readonly PlanInput[];
  /** Values of the inputs, by name. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Most tasks that run at the same time. */
  readonly concurrency?: number;
  /** `layers`: the run stops after each layer, and the agent decides whether to continue. */
  readonly decide?: 'layers';
  /** What the plan as code returns, with references; absent: what the last tasks gave. */
  readonly result?: unknown;
  /** In a stored plan: ids of tasks whose content was not stored because it held secrets. */
  readonly notKept?: readonly string[];
}
