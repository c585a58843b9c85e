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
};

export interface PlanInput {
  readonly name: string;
  readonly schema: unknown;
  readonly description?: string;
}

/** Always acyclic. */
export interface Plan {
  readonly tasks: readonly Task[];
  readonly inputs: readonly PlanInput[];
}
