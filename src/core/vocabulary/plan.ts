/** What a task runs: exactly one of a tool, a capability (by slug) or code. */
export type TaskBody =
  | { readonly tool: string; readonly capability?: never; readonly code?: never }
  | { readonly capability: string; readonly tool?: never; readonly code?: never }
  | { readonly code: string; readonly tool?: never; readonly capability?: never };

export type Task = TaskBody & {
  readonly id: string;
  /** A whole-string `"${t1.items[0].id}"` takes the value with its type; inside text it is interpolated. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly dependsOn: readonly string[];
  readonly reason?: string;
  readonly confidence?: number;
  /** What code is called in traces and graph: `code:<name>` instead of `code:task`. */
  readonly name?: string;
  /** How long one attempt may take. */
  readonly timeoutMs?: number;
  /** Only for what may be called twice. */
  readonly retry?: Retry;
  /** Calling it twice does no harm, whatever the tool says of itself. */
  readonly idempotent?: boolean;
  /** Skipped where it does not hold. */
  readonly when?: Condition;
  /** Once for each item of a list, or of what a reference gives; `${item}` and `${index}` stand for it. */
  readonly forEach?: unknown;
};

export interface Retry {
  /** In all, the first one included. */
  readonly attempts: number;
  /** Before the second attempt, in milliseconds; doubled before each further one. */
  readonly delayMs: number;
}

/** How two values are compared. */
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
 * A small form instead of an expression: nothing in it is code, whatever values come in.
 * A bare reference holds unless it gives false, null, 0, an empty text or list, or leads nowhere.
 */
export type Condition =
  | string
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  /** Whether a reference leads somewhere. */
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
  /** Tasks under way at once. */
  readonly concurrency?: number;
  /** After each layer the run stops, and the agent says whether to continue. */
  readonly decide?: 'layers';
  /** Of a stored plan: ids of the tasks that held secrets, which were not kept. */
  readonly notKept?: readonly string[];
}
