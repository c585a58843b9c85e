/**
 * Writes src/core/retrieval/related-words.ts: for words that people use, the words of tools that mean nearly the same.
 *
 *   node scripts/relate-words.ts --train FILE [--cache DIR]
 *
 * FILE holds the tools and requests that the encoder was trained on (training/embedder/README.md). Both the words and
 * their relations come from there and from the encoder, never from the texts that search is measured on.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { MiniLmEmbedder } from '../src/adapters/embedding/minilm-embedder.ts';
import { StoredEmbedder } from '../src/adapters/embedding/stored-embedder.ts';
import { TopK } from '../src/core/numeric/top-k.ts';
import { WasmVectorIndex } from '../src/core/retrieval/wasm-vector-index.ts';
import { identifierWords, words } from '../src/core/retrieval/words.ts';

/** Tools that must use a word for it to be one of theirs. */
const LEAST_TOOLS = 12;
/** Requests that must use a word for it to be looked up; words at the head of the encoder's list always are. */
const LEAST_REQUESTS = 5;
const COMMON_WORDS = 10_000;
/** Forms of a stem that are embedded: the most frequent ones. */
const FORMS = 2;
const LEAST_COSINE = 0.5;
/** Many, because a search takes the nearest of those that the attached tools use. */
const MOST_RELATED = 30;
const BATCH = 1_024;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

interface TrainingFile {
  readonly tools: readonly [source: string, server: string, name: string, description: string][];
  readonly tasks: readonly [source: string, request: string][];
}

const { values } = parseArgs({ options: { train: { type: 'string' }, cache: { type: 'string' } } });
if (values.train === undefined) {
  console.error('relate-words: name the file of tools and requests with --train');
  process.exit(2);
}
const { tools, tasks } = JSON.parse(gunzipSync(readFileSync(values.train)).toString()) as TrainingFile;
const byTools = countWords(tools.map(([, , name, description]) => `${name} ${firstSentence(description)}`));
const byRequests = countWords(tasks.map(([, request]) => request.slice(0, 400)));

/** Forms by stem, the most frequent first. */
const forms = new Map<string, string[]>();
for (const word of [...new Set([...byTools.keys(), ...byRequests.keys(), ...commonWords()])].sort()) {
  const [stem] = words(word);
  forms.set(stem!, [...(forms.get(stem!) ?? []), word]);
}
const uses = (word: string) => (byTools.get(word) ?? 0) + (byRequests.get(word) ?? 0);
for (const list of forms.values()) list.sort((a, b) => uses(b) - uses(a));
const common = new Set(commonWords().flatMap(words));
const total = (counts: ReadonlyMap<string, number>, stem: string) =>
  forms.get(stem)!.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
const targets = [...forms.keys()].filter((stem) => total(byTools, stem) >= LEAST_TOOLS);
const sources = [...forms.keys()].filter(
  (stem) => common.has(stem) || total(byRequests, stem) >= LEAST_REQUESTS,
);
console.log(`${sources.length} words, ${targets.length} of tools`);

const embedder = new StoredEmbedder(new MiniLmEmbedder(), values.cache ?? join(tmpdir(), 'pml-vectors'));
const vectors = await vectorsOf([...new Set([...sources, ...targets].flatMap(formsOf))]);
await embedder.close();
const index = new WasmVectorIndex(embedder.dimension);
const rows = targets.flatMap((stem, place) => formsOf(stem).map((form) => ({ place, form })));
const ids = rows.map((_, i) => String(i));
for (const [i, { form }] of rows.entries()) index.set(ids[i]!, vectors.get(form)!);
const entries = sources.flatMap((stem) => {
  const code = codeOf(stem);
  return code === '' ? [] : [`${stem}=${code}`];
});
writeFileSync(
  new URL('../src/core/retrieval/related-words.ts', import.meta.url),
  `// Written by scripts/relate-words.ts; do not edit.
/** Stems of the words of tools. */
export const RELATED_WORDS =
  '${targets.join(' ')}';
/** By stem, its related ones, as \`relatedWords\` in words.ts reads them. */
export const RELATED_WORDS_OF =
  '${entries.join(' ')}';
`,
);
console.log(`${entries.length} words with related ones`);

/** The nearest words of tools: place in two digits, cosine in one. */
function codeOf(stem: string): string {
  const best = new Float64Array(targets.length);
  for (const form of formsOf(stem)) {
    const cosines = index.scores(vectors.get(form)!, ids);
    for (const [i, { place }] of rows.entries()) best[place] = Math.max(best[place]!, cosines[i]!);
  }
  const nearest = new TopK(MOST_RELATED + 1);
  for (const [place, cosine] of best.entries())
    if (cosine >= LEAST_COSINE && targets[place] !== stem) nearest.offer(place, cosine);
  return nearest
    .sorted()
    .slice(0, MOST_RELATED)
    .map(({ row, score }) => digits(row >> 6, row & 63, Math.round(Math.min(1, score) * 126 - 63)))
    .join('');
}

function digits(...values: readonly number[]): string {
  return values.map((value) => DIGITS[value]).join('');
}

function formsOf(stem: string): string[] {
  return forms.get(stem)!.slice(0, FORMS);
}

async function vectorsOf(texts: readonly string[]): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  for (let first = 0; first < texts.length; first += BATCH) {
    const batch = texts.slice(first, first + BATCH);
    const made = await embedder.embed(batch);
    for (const [i, text] of batch.entries()) found.set(text, made[i]!);
  }
  return found;
}

/** By word, in how many texts it occurs. */
function countWords(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const plain = identifierWords(text.replace(/[^\p{L}\p{N}_\-.:/\s]+/gu, ' '));
    for (const word of new Set(plain.split(' ').filter(isWord)))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Whole words of the encoder's vocabulary, which lists frequent ones first. */
function commonWords(): string[] {
  const file = new URL('../assets/embedder/tokenizer.json', import.meta.url);
  const { vocab } = JSON.parse(readFileSync(file, 'utf8')).model as { vocab: Record<string, number> };
  return Object.keys(vocab)
    .filter((word) => vocab[word]! < COMMON_WORDS)
    .filter(isWord);
}

/** A plain word that search does not leave out. */
function isWord(word: string): boolean {
  return /^[a-z]{3,16}$/.test(word) && words(word).length === 1;
}

function firstSentence(description: string): string {
  const text = description.trim().slice(0, 300);
  const end = text.search(/[.!?](?:\s|$)|\n/);
  return end < 0 ? text : text.slice(0, end + 1);
}
