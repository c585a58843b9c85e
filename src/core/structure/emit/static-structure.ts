import type { OperationId, ToolId } from '../../vocabulary/ids.ts';
import type { SourcePosition } from '../parse/parse-program.ts';

/**
 * What a program can do, derived from its text alone. Plain data: it is stored with a capability.
 *
 * Nodes are places in the source, in the order in which the program reaches them. The body of a helper
 * function is repeated for each call of it, so that every call has its own arguments; a function that is
 * never called is at the end, separate from the rest.
 *
 * Every node has at most one head: the innermost decision, loop, fork or operation around it, whose
 * edge (`conditional`, `loop_body` or `contains`) leads to it. Calls that were started earlier and are
 * awaited by a fork are also contained in it.
 */
export interface StaticStructure {
  readonly nodes: readonly StructureNode[];
  readonly edges: readonly StructureEdge[];
  /** Calls on `mcp` or `capabilities` whose target is known only at run time. */
  readonly unresolved: readonly UnresolvedCall[];
}

interface NodeBase {
  /** `n1`, `n2`, …: unique within the program. */
  readonly id: string;
  readonly at: SourcePosition;
  /** For a node in a helper function: where the program called the function. */
  readonly calledAt?: SourcePosition;
}

export type StructureNode =
  | (NodeBase & { readonly type: 'task'; readonly tool: ToolId; readonly arguments: CallArguments })
  | (NodeBase & { readonly type: 'capability'; readonly slug: string; readonly arguments: CallArguments })
  | (NodeBase & { readonly type: 'operation'; readonly operation: OperationId })
  /** `if`, `?:`, `switch`; `&&`, `||`, `??` before a step; `try` with a `catch`, whose condition is `try`. */
  | (NodeBase & { readonly type: 'decision'; readonly condition: string })
  /** `over` is the iterated expression, otherwise the condition. */
  | (NodeBase & { readonly type: 'loop'; readonly over: string })
  | (NodeBase & { readonly type: 'fork' | 'join'; readonly wait: Waiting });

/** The function of `Promise` that gathers the calls. */
export type Waiting = 'all' | 'allSettled' | 'race' | 'any';

/** By argument name; an argument that is `undefined` is left out. */
export interface CallArguments {
  readonly bindings: Readonly<Record<string, Binding>>;
  /** Whether `bindings` has every argument: false where the object or its names are known only at run time. */
  readonly isComplete: boolean;
}

/** Where the value of an argument comes from; all but `expression` are exact. */
export type Binding =
  /** A constant, after constant folding. */
  | { readonly kind: 'literal'; readonly value: unknown }
  /** The result of another node, or the part of it at `path` (`items[0].id`). */
  | { readonly kind: 'reference'; readonly node: string; readonly path: string }
  /** The program's `args.name`. */
  | { readonly kind: 'parameter'; readonly path: string }
  | { readonly kind: 'expression'; readonly text: string };

export interface StructureEdge {
  readonly from: string;
  readonly to: string;
  /**
   * `sequence`: the next step of the same flow; none between calls that run in parallel, nor where
   * another edge leads from a head to the first step in it. `provides`: a value of `from` is used by
   * `to`. `conditional`: `to` runs depending on decision `from`. `contains`: `to` is inside fork or
   * try `from`. `loop_body`: `to` is repeated by loop or operation `from`.
   */
  readonly type: 'sequence' | 'provides' | 'conditional' | 'contains' | 'loop_body';
  /** With `conditional`: `true`, `false`, `nullish`, a case's text, `default`, `catch`. */
  readonly branch?: string;
  /** With `provides`: the argument of `to` that takes the value, if it is a single argument. */
  readonly argument?: string;
}

export interface UnresolvedCall {
  readonly text: string;
  readonly at: SourcePosition;
  readonly reason: string;
}

/** Whether a program only computes: no tools, no capabilities, nothing that is known only at run time. */
export function callsNothing({ nodes, unresolved }: StaticStructure): boolean {
  return unresolved.length === 0 && !nodes.some(({ type }) => type === 'task' || type === 'capability');
}
