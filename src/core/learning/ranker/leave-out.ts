import type { Random } from '../../numeric/random.ts';
import type { Candidates } from './candidates.ts';

const DEFAULTS = {
  /** Servers with used tools, below which single tools are left out instead. */
  servers: 5,
  /** Shares of the runs that are left out: with the tools of some servers, at the most of these, and of other work. */
  far: 0.25,
  mostFar: 0.4,
  near: 0.2,
  /** And as many of each as it takes: the more are left out, the less is learned from the rest. */
  enough: { far: 100, near: 60 },
};

/** Work that a ranker is kept from seeing, so that it can be asked about it. */
export interface LeftOut {
  /** Ids of tools, as if they had just been attached: no run that uses one of them is learned from. */
  readonly tools: readonly string[];
  /** Keys of other runs. */
  readonly keys: readonly string[];
}

/** Leaves out the tools of random servers, and random runs of the others. */
export function leaveOut(
  runs: readonly { readonly uses: readonly string[]; readonly key: string }[],
  candidates: Candidates,
  random: Random,
): LeftOut {
  const used = [...new Set(runs.flatMap(({ uses }) => uses))].filter(
    (id) => candidates.placeOf(id) !== undefined,
  );
  const serverOf = (id: string) => candidates.servers[candidates.placeOf(id)!]!;
  const isByServer = new Set(used.map(serverOf)).size >= DEFAULTS.servers;
  const units = Map.groupBy(used, (id) => (isByServer ? serverOf(id) : id)).values();
  const tools = new Set<string>();
  let far = 0;
  for (const unit of random.shuffle([...units])) {
    const withIt = tools.union(new Set(unit));
    const count = runs.filter(({ uses }) => uses.some((id) => withIt.has(id))).length;
    if (count > DEFAULTS.mostFar * runs.length) continue;
    for (const id of unit) tools.add(id);
    far = count;
    if (far >= Math.min(DEFAULTS.enough.far, DEFAULTS.far * runs.length)) break;
  }
  const rest = Map.groupBy(
    runs.filter(({ uses }) => !uses.some((id) => tools.has(id))),
    ({ key }) => key,
  );
  const keys: string[] = [];
  let near = 0;
  for (const [key, alike] of random.shuffle([...rest])) {
    if (near >= Math.min(DEFAULTS.enough.near, DEFAULTS.near * runs.length)) break;
    keys.push(key);
    near += alike.length;
  }
  return { tools: [...tools], keys };
}
