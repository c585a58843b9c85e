const DEFAULTS = {
  /** Characters of a description that are read. */
  characters: 4_000,
  /** Words after "deprecated" in which the successor is searched for. */
  words: 24,
  /** Words allowed between "use" and the name: "use the new `x`". */
  reach: 4,
};

/** One word with the text directly before and after it. */
interface Word {
  readonly text: string;
  readonly before: string;
  readonly after: string;
}

interface DescribedTool {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
}

const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_.:/'’-]*/gu;
const ENDS_WORD = new Set(['.', ':', '/', '-', "'", '’']);

/** Words before "deprecated" when a tool says so about itself: "is deprecated", "This deprecated tool". */
const OF_ITSELF = new Set(['is', 'now', 'been', 'this', 'tool', 'are', 'was']);
/** Words that may follow, unless punctuation does: "deprecated in favour of". */
const GOES_ON = new Set(['in', 'use', 'please', 'since', 'as', 'and', 'tool', 'alias', 'prefer', 'replaced']);
/** Words before the successor's name: "use x", "in favour of x", "replaced by x", "switch to x". */
const LEADS_ON = new Set(['use', 'using', 'call', 'prefer', 'favour', 'favor', 'by', 'see', 'try', 'to']);
const NEGATES = new Set(['not', "don't", 'don’t', 'never', 'no', 'longer']);

/**
 * Tools whose description says that they are deprecated and names a successor on the same server: index to index.
 * The last tool of a chain comes first; cycles are left out. The text comes from a server, so it can only lower that
 * server's own tools, and reading takes linear time.
 */
export function successorsOf(tools: readonly DescribedTool[]): ReadonlyMap<number, number> {
  let byServer: Map<string, Map<string, number>> | undefined;
  const named = new Map<number, number>();
  for (const [place, { server, description = '' }] of tools.entries()) {
    const text = description.slice(0, DEFAULTS.characters);
    if (!/deprecated/i.test(text)) continue;
    byServer ??= placesByServer(tools);
    const successor = successorIn(wordsOf(text), server.toLowerCase(), byServer.get(server)!, place);
    if (successor !== undefined) named.set(place, successor);
  }
  return lastFirst(named);
}

function placesByServer(tools: readonly DescribedTool[]): Map<string, Map<string, number>> {
  const byServer = new Map<string, Map<string, number>>();
  for (const [place, { server, name }] of tools.entries()) {
    const places = byServer.get(server) ?? new Map<string, number>();
    byServer.set(server, places.set(name.toLowerCase(), place));
  }
  return byServer;
}

function wordsOf(text: string): Word[] {
  const found = [...text.matchAll(WORD)].map(({ 0: word, index }) => {
    let end = word.length;
    while (ENDS_WORD.has(word[end - 1]!)) end--;
    return { text: word.slice(0, end).toLowerCase(), start: index, end: index + end };
  });
  return found.map(({ text: word, start, end }, i) => ({
    text: word,
    before: text.slice(found[i - 1]?.end ?? 0, start),
    after: text.slice(end, found[i + 1]?.start ?? text.length),
  }));
}

function successorIn(
  words: readonly Word[],
  server: string,
  places: ReadonlyMap<string, number>,
  own: number,
): number | undefined {
  const from = words.findIndex((_, i) => isOfItself(words, i));
  if (from < 0) return undefined;
  const until = Math.min(words.length, from + 1 + DEFAULTS.words);
  for (let i = from + 1; i < until; i++) {
    if (!LEADS_ON.has(words[i]!.text) || NEGATES.has(words[i - 1]!.text)) continue;
    for (let k = i + 1; k < Math.min(until, i + 1 + DEFAULTS.reach); k++) {
      const { text } = words[k]!;
      const place = places.get(text) ?? places.get(withoutServer(text, server));
      if (place === undefined || !isName(words, k)) continue;
      if (place !== own) return place;
      break;
    }
  }
  return undefined;
}

/** Whether the tool itself is meant: "Lists deprecated packages" is about something else. */
function isOfItself(words: readonly Word[], at: number): boolean {
  const { text, before, after } = words[at]!;
  if (text !== 'deprecated') return false;
  const previous = words[at - 1]?.text ?? '';
  const isSaid = at === 0 || /[.!?:;()[\]\n*–—-]/.test(before) || OF_ITSELF.has(previous);
  const next = words[at + 1]?.text ?? '';
  return isSaid && !NEGATES.has(previous) && (/[^\s]/.test(after) || next === '' || GOES_ON.has(next));
}

/** A name that is also a plain word only counts where it is quoted or cannot be anything else. */
function isName(words: readonly Word[], at: number): boolean {
  const { text, before, after } = words[at]!;
  if (/[_.:/-]/.test(text)) return true;
  const next = words[at + 1]?.text;
  return /[`"'“‘]$/.test(before) || /^[.;,)\]]/.test(after) || !next || next === 'instead' || next === 'tool';
}

/** `files:read`, `files__read` and `files/read` are `read` of files. */
function withoutServer(text: string, server: string): string {
  const separator = [':', '__', '/', '.'].find((each) => text.startsWith(server + each));
  return separator === undefined ? text : text.slice(server.length + separator.length);
}

function lastFirst(named: ReadonlyMap<number, number>): Map<number, number> {
  const ordered = new Map<number, number>();
  const seen = new Set<number>();
  for (const start of named.keys()) {
    const chain: number[] = [];
    let at = start;
    for (; named.has(at) && !seen.has(at); at = named.get(at)!) {
      seen.add(at);
      chain.push(at);
    }
    const circle = chain.indexOf(at);
    for (const place of (circle < 0 ? chain : chain.slice(0, circle)).reverse())
      ordered.set(place, named.get(place)!);
  }
  return ordered;
}
