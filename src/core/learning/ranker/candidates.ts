import { type Matrix, matrixOf } from '../../numeric/matrices.ts';
import { RowMatrix } from '../../numeric/top-k.ts';
import {
  createWordIndex,
  type SearchWeights,
  scoreWords,
  type TextScores,
  type WordIndex,
} from '../../retrieval/text-scores.ts';
import { clauses, words } from '../../retrieval/words.ts';

/** Number of additional kinds of runs at which narrowness is one half. */
const KINDS_TO_KNOW = 10;

/** A tool or capability that can be ranked, with its description. */
export interface CandidateEntry {
  /** Tool id or node id of a capability. */
  readonly id: string;
  /** Empty for a capability. */
  readonly server: string;
  readonly name: string;
  /** The server's description, which may name a successor. */
  readonly description?: string;
  /** The words for word search. */
  readonly words: readonly string[];
  /** Unit vector; null while it is not embedded yet. */
  readonly vector: Float32Array | null;
}

/** An intent in all the forms that are compared. */
export interface IntentForms {
  readonly text: string;
  /** Unit vector of the whole intent. */
  readonly intent: Float32Array;
  /** Unit vectors of its clauses; that of the whole if it has a single clause. */
  readonly clauses: readonly Float32Array[];
  readonly words: readonly string[];
}

export async function intentForms(
  embedder: { embed(texts: readonly string[]): Promise<Float32Array[]> },
  intent: string,
): Promise<IntentForms> {
  const text = intent.trim();
  const parts = clauses(text);
  const [whole, ...rest] = await embedder.embed(parts.length > 1 ? [text, ...parts] : [text]);
  return { text, intent: whole!, clauses: rest.length > 0 ? rest : [whole!], words: words(text) };
}

/** Candidates compared with a query by text. Tools and capabilities form separate groups. */
interface CandidateGroup {
  readonly size: number;
  readonly index: WordIndex;
  readonly vectors: RowMatrix;
  /** Indices without a vector yet. */
  readonly gaps: readonly number[];
}

/** Everything that can be ranked, tools first, then capabilities; all other code refers to them by index. */
export class Candidates {
  readonly ids: readonly string[];
  readonly size: number;
  /** Number of tools; indices from here on are capabilities. */
  readonly tools: number;
  /** [size x dimension], unit rows; zeros for candidates without a vector. */
  readonly vectors: Matrix;
  /** The words of each candidate's name. */
  readonly names: readonly (readonly string[])[];
  /** By word: the indices of the names that contain it, once per occurrence. */
  readonly placesByWord: ReadonlyMap<string, readonly number[]>;
  /** The server of each candidate, numbered from 0. */
  readonly servers: Int32Array;
  readonly serverCount: number;
  readonly #groups: readonly CandidateGroup[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #words: readonly (readonly string[])[];

  constructor(
    tools: readonly CandidateEntry[],
    capabilities: readonly CandidateEntry[],
    dimension: number,
    /** Of these tools, where there is one already. */
    index?: WordIndex,
  ) {
    const entries = [...tools, ...capabilities];
    const nothing = new Float32Array(dimension);
    this.ids = entries.map(({ id }) => id);
    this.#words = entries.map(({ words: said }) => said);
    this.size = entries.length;
    this.tools = tools.length;
    this.vectors = matrixOf(
      entries.map(({ vector }) => vector ?? nothing),
      dimension,
    );
    this.names = entries.map(({ name }) => words(name));
    this.placesByWord = placesByWord(this.names);
    this.servers = numbered(entries.map(({ server }) => server));
    this.serverCount = new Set(this.servers).size;
    this.#groups = [tools, capabilities]
      .filter(({ length }) => length > 0)
      .map((list) => groupOf(list, dimension, list === tools ? index : undefined));
    this.#places = new Map(this.ids.map((id, place) => [id, place]));
  }

  /** The words of a candidate for word search. */
  wordsOf(place: number): readonly string[] {
    return this.#words[place]!;
  }

  placeOf(id: string): number | undefined {
    return this.#places.get(id);
  }

  /** Indices of the known ids, without repeats, in order of first use. */
  placesOf(ids: readonly string[]): number[] {
    return [...new Set(ids.flatMap((id) => this.#places.get(id) ?? []))];
  }

  /** Cosine of an intent and each candidate; 0 where the vector is missing. */
  cosines(intent: Float32Array): Float32Array {
    const cosines = new Float32Array(this.size);
    let first = 0;
    for (const { vectors, size } of this.#groups) {
      cosines.set(vectors.dots(intent), first);
      first += size;
    }
    return cosines;
  }

  /** Text scores of search for each candidate. */
  textScores(query: IntentForms, weights?: SearchWeights): TextScores {
    const parts = this.#groups.map((group) => scoresOn(group, query, weights));
    return parts.length === 1 ? parts[0]! : joined(parts);
  }
}

function groupOf(
  entries: readonly CandidateEntry[],
  dimension: number,
  index: WordIndex = createWordIndex(entries),
): CandidateGroup {
  const vectors = new RowMatrix(dimension);
  for (const { vector } of entries) vectors.push(vector ?? new Float32Array(dimension));
  return {
    size: entries.length,
    index,
    vectors,
    gaps: entries.flatMap(({ vector }, i) => (vector ? [] : [i])),
  };
}

function scoresOn(group: CandidateGroup, query: IntentForms, weights?: SearchWeights): TextScores {
  const cosines = (vector: Float32Array) => {
    const values = group.vectors.dots(vector);
    for (const gap of group.gaps) values[gap] = Number.NaN;
    return values;
  };
  const known = group.gaps.length < group.size;
  return scoreWords(
    group.index,
    query,
    known ? { whole: cosines(query.intent), clauses: query.clauses.map(cosines) } : null,
    weights,
  );
}

function joined(parts: readonly TextScores[]): TextScores {
  const size = parts.reduce((sum, { fused }) => sum + fused.length, 0);
  const concatenated = (of: (scores: TextScores) => Float64Array) => {
    const all = new Float64Array(size);
    let first = 0;
    for (const scores of parts) {
      all.set(of(scores), first);
      first += of(scores).length;
    }
    return all;
  };
  const named = new Map<number, number>();
  let first = 0;
  for (const scores of parts) {
    for (const [place, name] of scores.named) named.set(first + place, name);
    first += scores.fused.length;
  }
  return {
    whole: concatenated(({ whole }) => whole),
    clause: concatenated(({ clause }) => clause),
    lexical: concatenated(({ lexical }) => lexical),
    server: concatenated(({ server }) => server),
    fused: concatenated(({ fused }) => fused),
    nearest: concatenated(({ nearest }) => nearest),
    named,
  };
}

function placesByWord(names: readonly (readonly string[])[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, name] of names.entries()) {
    for (const word of name) {
      const known = places.get(word);
      if (known) known.push(place);
      else places.set(word, [place]);
    }
  }
  return places;
}

/** Equal names get equal numbers. */
function numbered(names: readonly string[]): Int32Array {
  const numbers = new Map<string, number>();
  return Int32Array.from(names, (name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  });
}

/** In (0, 1]: 1 for a past of one kind of run, by the places of what was used; one half after some more kinds. */
export function narrownessOf(uses: readonly (readonly number[])[]): number {
  const kinds = new Set(uses.map((places) => places.join())).size;
  return 1 / (1 + Math.max(0, kinds - 1) / KINDS_TO_KNOW);
}
