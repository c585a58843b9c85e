import { type Matrix, matrixOf } from '../../numeric/matrices.ts';
import { RowMatrix } from '../../numeric/row-matrix.ts';
import { successorsOf } from '../../retrieval/deprecated-tools.ts';
import { createNameIndex, type NameIndex } from '../../retrieval/name-index.ts';
import {
  type Bm25Index,
  createBm25,
  lexicalScores,
  type SearchWeights,
  type TextScores,
  textScores,
} from '../../retrieval/text-scores.ts';
import { words } from '../../retrieval/words.ts';

/** One thing that can be ranked, as it is described. */
export interface CandidateEntry {
  /** Tool id or node id of a capability. */
  readonly id: string;
  /** Empty for a capability. */
  readonly server: string;
  readonly name: string;
  /** What its server says of it, which may be that another tool should be used. */
  readonly description?: string;
  /** What is searched by words. */
  readonly words: readonly string[];
  /** Unit vector; null while it is not embedded yet. */
  readonly vector: Float32Array | null;
}

/** An intent in all the forms that are compared. */
export interface IntentForms {
  readonly text: string;
  /** Unit vector of the whole. */
  readonly intent: Float32Array;
  /** Of its clauses; of the whole where it has but one. */
  readonly clauses: readonly Float32Array[];
  readonly words: readonly string[];
}

/** What is compared with a query by its text. Tools and capabilities have catalogues of their own. */
interface CandidateGroup {
  readonly size: number;
  readonly lexical: Bm25Index;
  readonly names: NameIndex;
  /** Of deprecated tools. */
  readonly successors: ReadonlyMap<number, number>;
  readonly vectors: RowMatrix;
  /** Places that have no vector yet. */
  readonly gaps: readonly number[];
}

/** What can be ranked, tools first, then capabilities; everything else speaks of them by their place here. */
export class Candidates {
  readonly ids: readonly string[];
  readonly size: number;
  /** Places from here on are capabilities. */
  readonly tools: number;
  /** [size x dimension], unit rows; zeros where nothing is embedded yet. */
  readonly vectors: Matrix;
  /** The words of each one's name. */
  readonly names: readonly (readonly string[])[];
  /** By word of a name: whose it is, as often as it comes in there. */
  readonly placesByWord: ReadonlyMap<string, readonly number[]>;
  /** The number of each one's server, from 0. */
  readonly servers: Int32Array;
  readonly serverCount: number;
  readonly #groups: readonly CandidateGroup[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #words: readonly (readonly string[])[];

  constructor(tools: readonly CandidateEntry[], capabilities: readonly CandidateEntry[], dimension: number) {
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
      .map((list) => groupOf(list, dimension));
    this.#places = new Map(this.ids.map((id, place) => [id, place]));
  }

  /** What of one is searched by words. */
  wordsOf(place: number): readonly string[] {
    return this.#words[place]!;
  }

  placeOf(id: string): number | undefined {
    return this.#places.get(id);
  }

  /** Those that are known, without repeats, in order of first use. */
  placesOf(ids: readonly string[]): number[] {
    return [...new Set(ids.flatMap((id) => this.#places.get(id) ?? []))];
  }

  /** Cosine of an intent and each; 0 where the vector is missing. */
  cosines(intent: Float32Array): Float32Array {
    const cosines = new Float32Array(this.size);
    let first = 0;
    for (const { vectors, size } of this.#groups) {
      cosines.set(vectors.dots(intent), first);
      first += size;
    }
    return cosines;
  }

  /** What search says of each. */
  textScores(query: IntentForms, weights?: SearchWeights): TextScores {
    const parts = this.#groups.map((group) => scoresOn(group, query, weights));
    return parts.length === 1 ? parts[0]! : joined(parts);
  }
}

function groupOf(entries: readonly CandidateEntry[], dimension: number): CandidateGroup {
  const vectors = new RowMatrix(dimension);
  for (const { vector } of entries) vectors.push(vector ?? new Float32Array(dimension));
  return {
    size: entries.length,
    lexical: createBm25(entries.map(({ words }) => words)),
    names: createNameIndex(entries),
    successors: successorsOf(entries),
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
  return textScores(
    lexicalScores(group.lexical, query.words),
    known ? { whole: cosines(query.intent), clauses: query.clauses.map(cosines) } : null,
    group.names.named(query.text),
    weights,
    group.successors,
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
    fused: concatenated(({ fused }) => fused),
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
