import {
  type AnswerDrift,
  addAnswer,
  createShape,
  type ToolShape,
} from '../../core/capabilities/answer-drift.ts';
import { readAnswer } from '../../core/capabilities/answer-shape.ts';
import { inferSchema, mergeSchemas } from '../../core/capabilities/infer-schema.ts';
import { callSpans } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type ToolId } from '../../core/vocabulary/ids.ts';
import { isJsonObject } from '../../core/vocabulary/read-wire.ts';
import type { FlowPorts } from '../flow-ports.ts';

const DEFAULTS = {
  /** Answers after which what was counted is stored, where nothing else changed; of many, a share of them. */
  perWrite: 10,
  shareOfAll: 0.1,
};

/** Where the counts stand in the stored schema: a keyword that validators ignore. */
const COUNTS = 'x-pml-shape';

/** A tool whose answers have another shape than they had. */
export interface ToolDrift extends AnswerDrift {
  readonly tool: ToolId;
  /** Answers of the new shape so far. */
  readonly answersSince: number;
}

/** What tools have given so far, as JSON schemas: most declare no output of their own. */
export interface ObservedOutputs {
  of(tool: ToolId): unknown;
  /** Those whose answers changed, in order of id. */
  drifts(): readonly ToolDrift[];
  learn(trace: ExecutionTrace): Promise<void>;
  /** Reads again what the store has: another gateway saw something. */
  refresh(): Promise<void>;
  /** Told when a schema may be another one. */
  onChange(listener: () => void): void;
  /** Told when the answers of a tool changed, or are as they were. */
  onDrift(listener: () => Promise<void>): void;
}

interface Known {
  schema: unknown;
  /** Of the last answer, as JSON: once more the same, it adds nothing. */
  last?: string;
  readonly shape: ToolShape;
  unsaved: number;
}

export async function openObservedOutputs({
  store: { tools },
  events,
  clock,
}: Pick<FlowPorts, 'store' | 'events' | 'clock'>): Promise<ObservedOutputs> {
  const known = new Map<ToolId, Known>();
  const listeners: (() => Promise<void>)[] = [];
  const changed: (() => void)[] = [];

  async function refresh(): Promise<void> {
    for (const [tool, stored] of await tools.observedOutputs()) {
      const read = fromStored(stored);
      const mine = known.get(tool);
      // What was counted here since is not lost to an older count, and a change that another noticed is known here.
      const isNews = read.shape.drift !== null && mine?.shape.drift === null;
      const isBehind = mine && mine.unsaved > 0 && !isNews && countOf(read.shape) < countOf(mine.shape);
      if (isBehind) mine.schema = mergeSchemas(mine.schema, read.schema);
      else known.set(tool, read);
    }
    for (const tell of changed) tell();
  }
  await refresh();

  /** Whether it has to be stored. */
  function see(tool: ToolId, args: unknown, result: unknown): boolean {
    const mine = known.get(tool) ?? { schema: undefined, shape: createShape(), unsaved: 0 };
    known.set(tool, mine);
    const isOther = extend(mine, result);
    const answer = readAnswer(args, result);
    const change = answer && addAnswer(mine.shape, answer, clock.now().getTime());
    if (change) {
      const changes = mine.shape.drift?.changes.map(({ words }) => words) ?? [];
      events.emit({ type: 'drift_changed', tool, state: change, changes });
    }
    mine.unsaved++;
    if (isOther) for (const tell of changed) tell();
    const enough = Math.max(DEFAULTS.perWrite, DEFAULTS.shareOfAll * countOf(mine.shape));
    return change !== null || mine.unsaved >= enough || isOther;
  }

  return {
    of: (tool) => known.get(tool)?.schema,
    refresh,
    onChange: (listener) => void changed.push(listener),
    onDrift: (listener) => void listeners.push(listener),
    drifts: () =>
      [...known]
        .flatMap(([tool, { shape }]) => {
          if (!shape.drift) return [];
          const { since, answers, changes } = shape.drift;
          return { tool, since, answers, changes, answersSince: shape.settled.answers };
        })
        .sort((a, b) => (a.tool < b.tool ? -1 : 1)),
    async learn({ events: made, visibility }) {
      // The names of fields can be somebody's own data, and what is learned here is told to all.
      if (visibility === 'private') return;
      const driftsBefore = [...known.values()].map(({ shape }) => shape.drift);
      const toStore = new Set<ToolId>();
      for (const { start, end } of callSpans(made)) {
        if (!end?.success || end.result === undefined || kindOf(end.node) !== 'tool') continue;
        const tool = end.node as ToolId;
        if (see(tool, start.args, end.result)) toStore.add(tool);
      }
      if (toStore.size > 0) {
        await tools.observeOutputs(new Map([...toStore].map((tool) => [tool, toStored(known.get(tool)!)])));
        for (const tool of toStore) known.get(tool)!.unsaved = 0;
      }
      const drifts = [...known.values()].map(({ shape }) => shape.drift);
      if (drifts.some((drift, i) => drift !== (driftsBefore[i] ?? null)))
        for (const tell of listeners) await tell();
    },
  };
}

/** Whether the schema is another one then. */
function extend(known: Known, result: unknown): boolean {
  const inferred = inferSchema(result);
  const last = JSON.stringify(inferred);
  if (last === known.last) return false;
  const before = JSON.stringify(known.schema);
  known.schema = known.schema === undefined ? inferred : mergeSchemas(known.schema, inferred);
  known.last = last;
  return JSON.stringify(known.schema) !== before;
}

function countOf({ settled, drift }: ToolShape): number {
  return settled.answers + (drift?.before.answers ?? 0);
}

function toStored({ schema, shape }: Known): unknown {
  return isJsonObject(schema) ? { ...schema, [COUNTS]: shape } : schema;
}

/** Earlier versions stored the schema alone. */
function fromStored(stored: unknown): Known {
  if (!isJsonObject(stored)) return { schema: stored, shape: createShape(), unsaved: 0 };
  const { [COUNTS]: shape, ...schema } = stored;
  const isRead = isJsonObject(shape) && isJsonObject(shape.settled) && isJsonObject(shape.numbers);
  return { schema, shape: isRead ? (shape as unknown as ToolShape) : createShape(), unsaved: 0 };
}
