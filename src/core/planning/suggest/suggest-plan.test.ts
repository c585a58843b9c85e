import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../../test/proof-count.ts';
import { node } from '../../../../test/support/random-graph.ts';
import { capabilityHyperedges, containedUses, Hyperpaths } from '../../graph/hyperpaths.ts';
import { TypedGraph } from '../../graph/typed-graph.ts';
import type { PathPair } from '../../graph/value-paths.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import { EDGE_TYPES, type EdgeType } from '../../vocabulary/edge.ts';
import { type CapabilityNodeId, capabilityNode, type NodeId, toolId } from '../../vocabulary/ids.ts';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { referencedTasks } from '../plan/references.ts';
import { layersOf } from '../plan/validate-plan.ts';
import { breakCycles, type PlanSketch, type SketchedTask } from './plan-sketch.ts';
import { type CoveringCapability, suggestPlan } from './suggest-plan.ts';

const PROOF = { numRuns: proofRuns(10_000), seed: proofSeed() };
const PATHS = ['', 'id', 'items[0].id', 'items[1].id', '[0]', '[1]', 'deep["odd name"].x'];
const PARAMETERS = ['path', 'id', 'query', 'odd.name', 'content'];

const capabilityAt = (i: number): CapabilityNodeId =>
  capabilityNode(`00000000-0000-4000-8000-00000000000${i}`);
const schemaOf = (required: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])),
  required,
});
const SHAPES = [
  {},
  {},
  { line: '- ' },
  { line: '', beside: PARAMETERS[0]! },
  { beside: PARAMETERS[1]! },
  { isInside: true as const },
  { isPart: true as const },
];
const taskOf = (id: NodeId, required: readonly string[] = []): SketchedTask => ({
  node: id,
  body: { tool: id },
  schema: schemaOf(required),
  chance: 0.9,
  reason: 'fits',
});
const edge = (from: number, to: number, weight = 0.5) => ({ from, to, weight, reason: 'seen' });
const knowledgeOf = (
  graph: TypedGraph,
  capabilities: readonly CoveringCapability[] = [],
  reliabilityOf: (node: NodeId) => number = () => 0.5,
) => {
  const snapshot = graph.snapshot();
  return {
    graph,
    arcs: capabilityHyperedges(snapshot, containedUses(snapshot)),
    capabilities,
    reliabilityOf,
  };
};
const seen = (graph: TypedGraph, from: NodeId, to: NodeId, type: EdgeType, runs = 3, calls = 1) => {
  for (let i = 0; i < runs; i++) graph.observe({ from, to, type, calls, paths: [] }, i);
};

/** Everything an edge may be, among tools and capabilities, cycles and flows of values included. */
function randomCase(random: Random): { sketch: PlanSketch; knowledge: ReturnType<typeof knowledgeOf> } {
  const size = 1 + random.int(9);
  const nodes = [...Array.from({ length: size }, (_, i) => node(i)), capabilityAt(1), capabilityAt(2)];
  const graph = new TypedGraph();
  for (let i = random.int(30); i > 0; i--) {
    const from = nodes[random.int(nodes.length)]!;
    const to = nodes[random.int(nodes.length)]!;
    const type = EDGE_TYPES[random.int(EDGE_TYPES.length)]!;
    const paths = Array.from({ length: type === 'provides' ? random.int(4) : 0 }, () => ({
      fromPath: PATHS[random.int(PATHS.length)]!,
      toPath: PARAMETERS[random.int(PARAMETERS.length)]!,
      ...SHAPES[random.int(SHAPES.length)],
    }));
    for (let runs = random.int(4); runs > 0; runs--) {
      graph.observe({ from, to, type, calls: 1 + random.int(3), paths }, 0);
    }
  }
  const places = random.shuffle(Array.from({ length: size }, (_, i) => i));
  // Some tools are used twice.
  const twice = places.filter(() => random.next() < 0.2);
  const tasks = [...places, ...twice].map((i) =>
    taskOf(
      node(i),
      PARAMETERS.filter(() => random.next() < 0.4),
    ),
  );
  const edges = Array.from({ length: random.int(3 * size) }, () =>
    edge(random.int(tasks.length), random.int(tasks.length), random.next()),
  );
  const capabilities = [1, 2].map((i) => ({
    node: capabilityAt(i),
    slug: `skill_${i}`,
    schema: schemaOf(PARAMETERS.filter(() => random.next() < 0.3)),
    tools: [...new Set(Array.from({ length: 1 + random.int(4) }, () => node(random.int(size))))],
    reliability: random.next(),
  }));
  return { sketch: { tasks, edges }, knowledge: knowledgeOf(graph, capabilities) };
}

/** What each task may refer to: inputs, tasks it waits for, directly or not, and the item at hand. */
function unresolved({ tasks, inputs }: Plan): string[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const before = (id: string): string[] => byId.get(id)!.dependsOn.flatMap((from) => [from, ...before(from)]);
  return tasks.flatMap((task) => {
    const outside = new Set([...before(task.id), ...inputs.map(({ name }) => name)]);
    const inside = task.forEach === undefined ? [] : ['item', 'index'];
    return [
      ...referencedTasks(task.forEach).filter((name) => !outside.has(name)),
      ...referencedTasks(task.arguments).filter((name) => !outside.has(name) && !inside.includes(name)),
    ];
  });
}

test('[PLAN-5] on random graphs, the plan of any set is acyclic and all its references resolve', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0 }), (seed) => {
      const { sketch, knowledge } = randomCase(createRandom(seed));
      const { plan, edges } = suggestPlan(sketch, knowledge);
      expect(layersOf(plan.tasks).flat()).toHaveLength(plan.tasks.length);
      expect(unresolved(plan)).toEqual([]);
      for (const { id, dependsOn, reason } of plan.tasks) {
        expect(reason).not.toBe('');
        for (const from of dependsOn) {
          expect(edges.find((each) => each.from === from && each.to === id)?.reason).toBeTruthy();
        }
      }
    }),
    PROOF,
  );
});

describe('cycles', () => {
  const left = (size: number, edges: Parameters<typeof breakCycles>[1]) =>
    breakCycles(size, edges).map(({ from, to }) => `${from}${to}`);

  test('[PLAN-6] only the weakest edge of a cycle is removed, whatever the length of the cycle', () => {
    expect(left(3, [edge(0, 1, 0.9), edge(1, 2, 0.2), edge(2, 0, 0.8)])).toEqual(['01', '20']);
    expect(left(4, [edge(0, 1, 0.9), edge(1, 0, 0.3), edge(1, 2, 0.1), edge(3, 3, 1)])).toEqual(['01', '12']);
  });

  test('[PLAN-6] what the graph saw outweighs what is only likely, and a passed value outweighs both', () => {
    const graph = new TypedGraph();
    const [a, b] = [toolId('s', 'a'), toolId('s', 'b')];
    seen(graph, a, b, 'dependency');
    const sketch = { tasks: [taskOf(a), taskOf(b)], edges: [edge(1, 0, 0.99)] };
    const order = () => suggestPlan(sketch, knowledgeOf(graph)).plan.tasks.map(({ tool }) => tool);
    expect(order()).toEqual([a, b]);
    seen(graph, b, a, 'provides', 1);
    expect(order()).toEqual([b, a]);
  });
});

describe('capabilities', () => {
  const [a, b, x, d] = ['a', 'b', 'x', 'd'].map((name) => toolId('s', name)) as [
    NodeId,
    NodeId,
    NodeId,
    NodeId,
  ];
  const skill = capabilityAt(3);
  const covering = (over: Partial<CoveringCapability> = {}): CoveringCapability => ({
    node: skill,
    slug: 'both',
    schema: schemaOf(['path']),
    tools: [a, b],
    reliability: 0.9,
    ...over,
  });

  test('[PLAN-28] of routines that make the same calls, the one with the fewest inputs is planned', () => {
    const calls = [a, b];
    const job = covering({ slug: 'asks', schema: schemaOf(['path', 'id']), calls });
    const part = covering({ slug: 'knows', calls, gives: b, reliability: 0.8 });
    const longer = covering({ slug: 'other', schema: schemaOf([]), calls: [a, b, b], gives: b });
    const sketch = { tasks: [taskOf(a), taskOf(b)], edges: [edge(0, 1, 0.9)] };
    const planned = (capabilities: CoveringCapability[]) =>
      suggestPlan(sketch, knowledgeOf(new TypedGraph(), capabilities)).plan.tasks.map(
        (one) => one.capability,
      );
    expect(planned([job, part, longer])).toEqual(['knows']);
    expect(planned([job, longer])).toEqual(['asks']);
  });

  test('[PLAN-8] {a, b} -> x is not reachable from a alone', () => {
    const arc = { id: 'x', tail: [a, b], head: x, cost: 1 };
    expect(new Hyperpaths([a], [arc]).pathTo(x)).toBeNull();
    expect(new Hyperpaths([a, b], [arc]).pathTo(x)?.edges).toEqual([arc]);
  });

  test('[PLAN-8] a tool that depends on a capability waits for all of its tools, if all are in the plan', () => {
    const graph = new TypedGraph();
    for (const part of [a, b]) seen(graph, skill, part, 'contains');
    seen(graph, skill, d, 'provides');
    const waits = (tools: readonly NodeId[]) => {
      const { plan } = suggestPlan({ tasks: tools.map((id) => taskOf(id)), edges: [] }, knowledgeOf(graph));
      const task = plan.tasks.find(({ tool }) => tool === d)!;
      return task.dependsOn.map((id) => plan.tasks.find((each) => each.id === id)!.tool).sort();
    };
    expect(waits([d, a, b])).toEqual([a, b]);
    expect(waits([d, a])).toEqual([]);
  });

  test('[PLAN-9] a capability replaces consecutive tasks when it is more reliable', () => {
    const sketch = { tasks: [a, b, d].map((id) => taskOf(id)), edges: [edge(0, 1), edge(1, 2)] };
    const made = (capability: CoveringCapability, of = sketch) =>
      suggestPlan(
        of,
        knowledgeOf(new TypedGraph(), [capability], () => 0.8),
      ).plan.tasks.map((task) => [task.capability ?? task.tool, task.dependsOn]);
    expect(made(covering())).toEqual([
      ['both', []],
      [d, ['t1']],
    ]);
    expect(made(covering({ reliability: 0.6 }))).toHaveLength(3);
    expect(made(covering({ tools: [a, x] }))).toHaveLength(3);
    // d would have to run in the middle of it.
    const between = { ...sketch, edges: [edge(0, 2), edge(2, 1), edge(0, 1)] };
    expect(made(covering(), between)).toHaveLength(3);
    // Nothing says that the two belong together.
    expect(made(covering(), { ...sketch, edges: [] })).toHaveLength(3);
  });

  test('[MINE-11] a part comes after whole jobs, gives its last result, and hides no value that other tasks need', () => {
    const sketch = { tasks: [taskOf(a), taskOf(b), taskOf(d, ['id'])], edges: [edge(0, 1), edge(1, 2)] };
    const part = covering({ slug: 'part', gives: b });
    const made = (graph: TypedGraph, ...capabilities: CoveringCapability[]) =>
      suggestPlan(
        sketch,
        knowledgeOf(graph, capabilities, () => 0.8),
      ).plan.tasks.map((task) => [task.capability ?? task.tool, task.arguments]);
    const gives = (from: NodeId) => {
      const graph = new TypedGraph();
      const paths = [{ fromPath: 'item.id', toPath: 'id' }];
      graph.observe({ from, to: d, type: 'provides', calls: 1, paths }, 0);
      return graph;
    };
    expect(made(gives(b), part)).toEqual([
      ['part', { path: '${path}' }],
      [d, { id: '${t1.item.id}' }],
    ]);
    expect(made(gives(a), part)).toHaveLength(3);
    expect(made(gives(b), part, covering({ reliability: 0.7 }))[0]![0]).toBe('both');
  });
});

describe('arguments', () => {
  const [list, read, write] = ['list', 'read', 'write'].map((name) => toolId('fs', name)) as [
    NodeId,
    NodeId,
    NodeId,
  ];
  const flow = (
    graph: TypedGraph,
    from: NodeId,
    to: NodeId,
    paths: [string, string, Partial<PathPair>?][],
    calls = 1,
  ) =>
    graph.observe(
      {
        from,
        to,
        type: 'provides',
        calls,
        paths: paths.map(([fromPath, toPath, shape]) => ({ fromPath, toPath, ...shape })),
      },
      0,
    );

  test('[PLAN-10] [PLAN-25] values that were seen to move are wired, the rest are inputs with names and schemas', () => {
    const graph = new TypedGraph();
    flow(graph, read, write, [['text', 'content']]);
    const tasks = [taskOf(write, ['path', 'content']), taskOf(read, ['path'])];
    const { plan, edges } = suggestPlan({ tasks, edges: [] }, knowledgeOf(graph));
    expect(plan.tasks.map(({ tool, arguments: args, dependsOn }) => [tool, args, dependsOn])).toEqual([
      [read, { path: '${path}' }, []],
      [write, { path: '${write_path}', content: '${t1.text}' }, ['t1']],
    ]);
    expect(plan.inputs.map(({ name, schema }) => [name, schema])).toEqual([
      ['path', { type: 'string' }],
      ['write_path', { type: 'string' }],
    ]);
    expect(edges).toEqual([{ from: 't1', to: 't2', reason: `${read} gave it a value (1 run)` }]);
  });

  test('[PLAN-10] a tool that took values from several items runs once per item', () => {
    const graph = new TypedGraph();
    const places: [string, string][] = [
      ['entries[0].name', 'path'],
      ['entries[1].name', 'path'],
    ];
    flow(graph, list, read, places, 2);
    const tasks = [taskOf(list), taskOf(read, ['path'])];
    const { plan } = suggestPlan({ tasks, edges: [] }, knowledgeOf(graph));
    expect(plan.tasks[1]).toMatchObject({
      tool: read,
      forEach: '${t1.entries}',
      arguments: { path: '${item.name}' },
    });
  });

  test('[PLAN-15] names listed in a text are read one by one, from the folder that was listed, and joined', () => {
    const graph = new TypedGraph();
    flow(graph, list, read, [['content', 'path', { line: '[FILE] ', beside: 'folder' }]], 2);
    flow(graph, read, write, [['text', 'content', { isInside: true }]]);
    const tasks = [taskOf(list, ['folder']), taskOf(read, ['path']), taskOf(write, ['content'])];
    const { plan } = suggestPlan({ tasks, edges: [] }, knowledgeOf(graph));
    expect(plan.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['t1', []],
      ['t1-lines', ['t1']],
      ['t2', ['t1', 't1-lines']],
      ['t2-joined', ['t2']],
      ['t3', ['t2', 't2-joined']],
    ]);
    const [, lines, reading, joined, writing] = plan.tasks;
    expect(lines!.arguments).toEqual({ text: '${t1.content}', bullet: '[FILE] ' });
    expect(reading).toMatchObject({
      forEach: '${t1-lines}',
      arguments: { path: '${folder}/${item}' },
    });
    expect(joined!.arguments).toEqual({ results: '${t2}', path: ['text'] });
    expect(writing!.arguments).toEqual({ content: '${t2-joined}' });
    const run = (task: Task, args: unknown) => new Function('args', task.code!)(args);
    const text = '[DIR] old\n[FILE] a.txt\n[FILE] b c.txt\n';
    expect(run(lines!, { text, bullet: '[FILE] ' })).toEqual(['a.txt', 'b c.txt']);
    expect(run(joined!, { results: [{ text: 'one' }, { text: 'two' }], path: ['text'] })).toBe('one\ntwo');
  });

  test('[PLAN-15] a part of a text that follows no rule is an input', () => {
    const graph = new TypedGraph();
    flow(graph, list, read, [['content', 'path', { isPart: true }]], 2);
    flow(graph, list, write, [['content', 'path', { line: '' }]]);
    const tasks = [taskOf(list), taskOf(read, ['path']), taskOf(write, ['path'])];
    const { plan } = suggestPlan({ tasks, edges: [] }, knowledgeOf(graph));
    expect(plan.inputs.map(({ name }) => name)).toEqual(['path', 'write_path']);
  });
});
