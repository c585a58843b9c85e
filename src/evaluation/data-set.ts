import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { ToolId } from '../core/vocabulary/ids.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { ToolDefinition } from '../core/vocabulary/tool-definition.ts';

const TOOLS_FILE = 'tools.jsonl';

const toolRow = z.object({
  id: z.string(),
  server: z.string(),
  name: z.string(),
  description: z.string().default(''),
  inputSchema: z.unknown().optional(),
});

const taskRow = z.object({
  id: z.string(),
  intent: z.string(),
  tools: z.array(z.string()).min(1),
  edges: z.array(z.tuple([z.string(), z.string()])).optional(),
  group: z.string().optional(),
  /** In traces only: the task that was run. */
  task: z.string().optional(),
  kind: z.string().optional(),
  alts: z.record(z.string(), z.array(z.string())).optional(),
});

/** A task with its correct tools, or a recorded run with its calls. */
export interface Task {
  readonly id: string;
  readonly intent: string;
  /** In order of execution, verbatim; runs include repeats. */
  readonly tools: readonly string[];
  /** Tools of other servers that are equally correct. */
  readonly alternatives: Readonly<Record<string, readonly string[]>>;
  /** Tasks of one group are the same work in other words. */
  readonly group: string;
  /** Whether the order of the tools means anything. */
  readonly isOrdered: boolean;
  /** Required order: as given, otherwise each tool before the next. */
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** Independent calls, by the task's kind, in a set that also has chains. */
  readonly isParallel: boolean;
}

export interface DataSet {
  readonly name: string;
  readonly split: string;
  readonly tools: readonly ToolDefinition[];
  readonly train: readonly Task[];
  /** Measured tasks. */
  readonly test: readonly Task[];
  /** Whether the tasks are recorded runs instead of tasks with their correct tools. */
  readonly isRecorded: boolean;
}

export interface DataSetOptions {
  readonly split: string;
  readonly tasks: 'tasks' | 'traces';
  /** Files that replace those of the folder. */
  readonly trainFile?: string;
  readonly testFile?: string;
  /** Additional tools that are correct for no task. */
  readonly distractors?: string;
}

/** The folder itself if it is a data set, otherwise its subfolders that are, in order of name. */
export async function findDataSets(folder: string): Promise<string[]> {
  const root = resolve(folder);
  const names = await readdir(root).catch((cause) => {
    throw new PmlError('not_found', `The folder ${root} cannot be read: ${cause.message}`, {
      hint: 'Name the folder of one or several data sets with --data.',
      cause,
    });
  });
  if (names.includes(TOOLS_FILE)) return [root];
  const inside: string[] = [];
  for (const name of names.sort()) {
    if (await isFile(join(root, name, TOOLS_FILE))) inside.push(join(root, name));
  }
  if (inside.length > 0) return inside;
  throw new PmlError('not_found', `No data set found in ${root}`, {
    hint: `A data set is a folder with ${TOOLS_FILE} and tasks.train.jsonl; docs/evaluation.md shows their form.`,
  });
}

export async function readDataSet(folder: string, options: DataSetOptions): Promise<DataSet> {
  const { split, tasks, trainFile, testFile, distractors } = options;
  const tools = await readTools(join(folder, TOOLS_FILE));
  const own = new Set<string>(tools.map(({ id }) => id));
  const others = distractors === undefined ? [] : await readTools(distractors);
  const readOwn = async (file: string) => {
    const read = await readTasks(file);
    for (const task of read) refuseUnknown(task, own, file);
    return read;
  };
  return {
    name: basename(folder),
    split: testFile === undefined ? split : basename(testFile),
    tools: [...tools, ...others.filter(({ id }) => !own.has(id))],
    train: await readOwn(trainFile ?? join(folder, `${tasks}.train.jsonl`)),
    test: await readOwn(testFile ?? join(folder, `${tasks}.${split}.jsonl`)),
    isRecorded: tasks === 'traces',
  };
}

async function readTools(file: string): Promise<ToolDefinition[]> {
  const rows = await readRows(file, toolRow);
  return rows.map((row) => ({
    ...row,
    id: row.id as ToolId,
    inputSchema: row.inputSchema ?? {},
    definitionHash: row.id,
  }));
}

async function readTasks(file: string): Promise<Task[]> {
  const rows = await readRows(file, taskRow);
  if (rows.length === 0) throw new PmlError('invalid_argument', `${file} contains no tasks`);
  return rows.map(({ id, intent, tools, edges, group, task, kind, alts }) => ({
    id,
    intent,
    tools,
    alternatives: alts ?? {},
    group: group ?? task ?? id,
    // An empty list of edges says that the tools form a set.
    isOrdered: edges === undefined || edges.length > 0,
    edges: edges ?? tools.slice(1).map((to, i): [string, string] => [tools[i]!, to]),
    isParallel: kind?.startsWith('parallel') ?? false,
  }));
}

/** A correct tool that is not listed would count as a miss of every ranker, without any explanation. */
function refuseUnknown(
  { id, tools, alternatives, edges }: Task,
  own: ReadonlySet<string>,
  file: string,
): void {
  const named = [...tools, ...Object.entries(alternatives).flat(2), ...edges.flat()];
  const unknown = named.find((tool) => !own.has(tool));
  if (unknown === undefined) return;
  throw new PmlError(
    'invalid_argument',
    `${file}: task "${id}" names the tool "${unknown}", which is not in ${TOOLS_FILE}`,
    {
      hint: `Add the tool to ${TOOLS_FILE}, or remove it from the task.`,
    },
  );
}

async function readRows<T>(file: string, form: z.ZodType<T>): Promise<T[]> {
  const rows = await readJsonLines(file);
  return rows.map((row, i) => {
    const read = form.safeParse(row);
    if (read.success) return read.data;
    const [problem] = read.error.issues;
    throw new PmlError(
      'invalid_argument',
      `${file}: entry ${i + 1}: ${problem!.path.join('.')}: ${problem!.message}`,
      {
        hint: 'docs/evaluation.md shows the form of each file.',
      },
    );
  });
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false;
}

/** One value per line, from a plain or a gzipped file. */
export async function readJsonLines(file: string): Promise<unknown[]> {
  const text = decode(file, await readBytes(file));
  return text
    .split('\n')
    .map((line, i) => ({ line: line.trim(), number: i + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => parse(line, `${file}:${number}`));
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new PmlError('not_found', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check the path; docs/evaluation.md says which files a data set has.',
      cause,
    });
  }
}

function decode(file: string, bytes: Buffer): string {
  if (!file.endsWith('.gz')) return bytes.toString();
  try {
    return gunzipSync(bytes).toString();
  } catch (cause) {
    throw new PmlError('invalid_argument', `${file} is not a gzipped file`, { cause });
  }
}

function parse(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new PmlError('invalid_argument', `${where} is not JSON: ${(cause as Error).message}`, {
      hint: 'The file must contain one JSON object per line.',
      cause,
    });
  }
}
