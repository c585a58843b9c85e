import { LineIndex } from '../parse/parse-program.ts';
import type {
  Binding,
  CallArguments,
  StaticStructure,
  StructureEdge,
  StructureNode,
  UnresolvedCall,
} from './static-structure.ts';

const DEFAULTS = {
  /** A larger structure is of no use, and hostile code could fill the memory with edges. */
  maxNodes: 20_000,
  maxEdges: 200_000,
};

const TYPES: readonly StructureEdge['type'][] = [
  'sequence',
  'provides',
  'conditional',
  'contains',
  'loop_body',
];
/** Greater than the order of any node. */
const ORDERS = 2 ** 22;

/** The node that another node is inside of. */
export interface Head {
  readonly node: DraftNode;
  readonly type: 'conditional' | 'contains' | 'loop_body';
  readonly branch?: string;
}

/** A node before it has a number. */
export interface DraftNode {
  readonly order: number;
  /** Offset in the program's text. */
  readonly offset: number;
  readonly calledAt: number | null;
  readonly head: Head | null;
  content: DraftContent;
}

type Content<T> = T extends StructureNode ? Omit<T, 'id' | 'at' | 'calledAt' | 'arguments'> : never;
export type DraftContent = Content<StructureNode> & { readonly arguments?: DraftArguments };

export interface DraftArguments {
  readonly bindings: ReadonlyMap<string, BoundArgument>;
  readonly isComplete: boolean;
}

export interface BoundArgument {
  readonly binding: DraftBinding;
  /** Source text of the argument. */
  readonly text: string;
}

export type DraftBinding =
  | Exclude<Binding, { kind: 'reference' }>
  | { readonly kind: 'reference'; readonly node: DraftNode; readonly path: string };

interface DraftEdge {
  readonly from: DraftNode;
  readonly to: DraftNode;
  readonly type: StructureEdge['type'];
  readonly detail: Pick<StructureEdge, 'branch' | 'argument'>;
}

/** Thrown when a program has more steps or edges than `DEFAULTS` allows. */
export class StructureTooLarge extends Error {
  override readonly name = 'StructureTooLarge';
}

/** The structure while it is built: nodes have no numbers yet, and can be removed. */
export class Draft {
  readonly #nodes: DraftNode[] = [];
  /** Edges by their ends and type; edges with the same key differ in branch or argument. */
  readonly #edges = new Map<number, DraftEdge[]>();
  #edgeCount = 0;
  readonly #unresolved = new Map<number, Omit<UnresolvedCall, 'at'>>();
  #order = 0;

  add(content: DraftContent, offset: number, head: Head | null, calledAt: number | null): DraftNode {
    const node = this.reserve(content, offset, head, calledAt);
    this.keep(node);
    return node;
  }

  /** Adds a node that is only kept if other nodes turn out to depend on it. */
  reserve(content: DraftContent, offset: number, head: Head | null, calledAt: number | null): DraftNode {
    if (this.#nodes.length >= DEFAULTS.maxNodes) {
      throw new StructureTooLarge(`The code has more than ${DEFAULTS.maxNodes} steps`);
    }
    const node: DraftNode = { order: this.#order++, offset, calledAt, head, content };
    this.#nodes.push(node);
    return node;
  }

  keep(node: DraftNode): void {
    const { head } = node;
    if (head)
      this.connect(head.node, node, head.type, head.branch === undefined ? {} : { branch: head.branch });
  }

  /** The program reaches the node once more: only bindings that hold every time remain exact. */
  widen(node: DraftNode, { arguments: args }: DraftContent): void {
    const before = node.content.arguments;
    if (before && args) node.content = { ...node.content, arguments: joinArguments(before, args) };
  }

  /** Removes the node; false if nodes were added after it, so that it must be kept. */
  takeBack(node: DraftNode): boolean {
    if (this.#nodes.at(-1) !== node) return false;
    this.#nodes.pop();
    return true;
  }

  connect(
    from: DraftNode,
    to: DraftNode,
    type: StructureEdge['type'],
    detail: DraftEdge['detail'] = {},
  ): void {
    if (from === to) return;
    const key = (from.order * ORDERS + to.order) * TYPES.length + TYPES.indexOf(type);
    const same = this.#edges.get(key);
    const isKnown = ({ detail: known }: DraftEdge) =>
      known.branch === detail.branch && known.argument === detail.argument;
    if (same?.some(isKnown)) return;
    if (++this.#edgeCount > DEFAULTS.maxEdges) {
      throw new StructureTooLarge(
        `The code has more than ${DEFAULTS.maxEdges} dependencies between its steps`,
      );
    }
    const edge = { from, to, type, detail };
    if (same) same.push(edge);
    else this.#edges.set(key, [edge]);
  }

  leaveUnresolved(offset: number, text: string, reason: string): void {
    this.#unresolved.set(offset, { text, reason });
  }

  /** `offset` is where the source begins in the program's text. */
  finish(
    source: string,
    offset: number,
  ): { structure: StaticStructure; ids: ReadonlyMap<DraftNode, string> } {
    const ids = new Map(this.#nodes.map((node, index) => [node, `n${index + 1}`]));
    const lines = new LineIndex(source);
    const at = (place: number) => lines.positionAt(place - offset);
    const nodes = this.#nodes.map(({ content, offset: place, calledAt }, index) => {
      const base = {
        id: `n${index + 1}`,
        at: at(place),
        ...(calledAt !== null && { calledAt: at(calledAt) }),
      };
      const args = content.arguments && finishArguments(content.arguments, ids);
      return { ...base, ...content, ...(args && { arguments: args }) } as StructureNode;
    });
    const edges = [...this.#edges.values()].flat().map(({ from, to, type, detail }) => ({
      from: ids.get(from)!,
      to: ids.get(to)!,
      type,
      ...detail,
    }));
    const unresolved = [...this.#unresolved]
      .sort(([a], [b]) => a - b)
      .map(([place, { text, reason }]) => ({ text, at: at(place), reason }));
    return { structure: { nodes, edges, unresolved }, ids };
  }
}

function joinArguments(a: DraftArguments, b: DraftArguments): DraftArguments {
  const bindings = new Map<string, BoundArgument>(a.bindings);
  for (const [name, bound] of b.bindings) if (!bindings.has(name)) bindings.set(name, bound);
  for (const [name, { text }] of bindings) {
    const [one, other] = [a.bindings.get(name), b.bindings.get(name)];
    const isSure = one && other && isSame(one.binding, other.binding);
    if (!isSure) bindings.set(name, { text, binding: { kind: 'expression', text } });
  }
  return { bindings, isComplete: a.isComplete && b.isComplete };
}

function isSame(a: DraftBinding, b: DraftBinding): boolean {
  if (a.kind === 'reference' || b.kind === 'reference') {
    return a.kind === 'reference' && b.kind === 'reference' && a.node === b.node && a.path === b.path;
  }
  return JSON.stringify(a) === JSON.stringify(b);
}

function finishArguments(
  { bindings, isComplete }: DraftArguments,
  ids: ReadonlyMap<DraftNode, string>,
): CallArguments {
  const finished = [...bindings].map(([name, { binding }]): [string, Binding] => [
    name,
    binding.kind === 'reference' ? { ...binding, node: ids.get(binding.node)! } : binding,
  ]);
  return { bindings: Object.fromEntries(finished), isComplete };
}
