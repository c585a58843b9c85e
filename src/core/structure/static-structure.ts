import type { OperationId, ToolId } from '../vocabulary/ids.ts';
import type { SourcePosition } from './source-position.ts';

/** What a program can do, told from its text alone. Plain data: it is stored with a capability. */
export interface StaticStructure {
  /** In order of their place in the source. */
  readonly nodes: readonly StructureNode[];
  readonly edges: readonly StructureEdge[];
  /** Calls on `mcp` or `capabilities` whose target only a run can tell. */
  readonly unresolved: readonly UnresolvedCall[];
}

interface NodeBase {
  /** `n1`, `n2`, …: unique within the program. */
  readonly id: string;
  readonly at: SourcePosition;
}

export type StructureNode =
  | (NodeBase & { readonly type: 'task'; readonly tool: ToolId; readonly arguments: CallArguments })
  | (NodeBase & { readonly type: 'capability'; readonly slug: string; readonly arguments: CallArguments })
  | (NodeBase & { readonly type: 'operation'; readonly operation: OperationId })
  | (NodeBase & { readonly type: 'decision'; readonly condition: string })
  | (NodeBase & { readonly type: 'loop'; readonly over: string })
  | (NodeBase & { readonly type: 'fork' | 'join'; readonly wait: 'all' | 'allSettled' | 'race' | 'any' });

/** By argument name. Not an object literal, or one with a spread: `isComplete` is false. */
export interface CallArguments {
  readonly bindings: Readonly<Record<string, Binding>>;
  /** Every argument name is in `bindings`. */
  readonly isComplete: boolean;
}

/** Where the value of an argument comes from. */
export type Binding =
  /** After constant folding. */
  | { readonly kind: 'literal'; readonly value: unknown }
  /** The result of another node, or what lies in it at `path` (`items[0].id`). */
  | { readonly kind: 'reference'; readonly node: string; readonly path: string }
  /** `args.name` of the program. */
  | { readonly kind: 'parameter'; readonly path: string }
  | { readonly kind: 'expression'; readonly text: string };

export interface StructureEdge {
  readonly from: string;
  readonly to: string;
  /**
   * `sequence`: runs after. `provides`: a value of `from` is used by `to`. `conditional`: `to` runs
   * depending on decision `from`. `contains`: `to` is inside fork or try `from`. `loop_body`: `to` is
   * repeated by loop `from`.
   */
  readonly type: 'sequence' | 'provides' | 'conditional' | 'contains' | 'loop_body';
  /** With `conditional`: `true`, `false`, a case's text, `catch`. */
  readonly branch?: string;
  /** With `provides`: the argument of `to` that takes the value, when it is one. */
  readonly argument?: string;
}

export interface UnresolvedCall {
  readonly text: string;
  readonly at: SourcePosition;
  readonly reason: string;
}
