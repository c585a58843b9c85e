/** Half-open range of a string. */
export type Span = readonly [start: number, end: number];

/** Finds every place where one of many texts stands, in one pass whatever they are. */
export interface TextSearch {
  /** Length of the longest text. */
  readonly longest: number;
  findIn(text: string): Span[];
}

/**
 * Aho and Corasick, "Efficient string matching: an aid to bibliographic search" (1975): a trie whose nodes know
 * the longest proper suffix that is in the trie, too. Time is linear in the length of the text, also for texts
 * somebody has chosen to be slow. Of the texts that end at one place the longest is told.
 */
export function createTextSearch(texts: Iterable<string>): TextSearch {
  /** By `node * 65536 + code unit`. */
  const children = new Map<number, number>();
  /** Of each node: length of the longest text that ends here, or 0. */
  const ends = [0];
  const fallback = [0];
  /** Whether a text begins with three characters of this hash: most places need no look at the trie. */
  const begins = new Uint8Array(65_536);
  const order: { readonly node: number; readonly parent: number; readonly code: number }[] = [];
  let longest = 0;
  for (const text of texts) {
    if (text.length < 3) continue;
    begins[hashAt(text, 0)] = 1;
    longest = Math.max(longest, text.length);
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const key = node * 65_536 + code;
      let child = children.get(key);
      if (child === undefined) {
        child = ends.length;
        children.set(key, child);
        ends.push(0);
        fallback.push(0);
        order.push({ node: child, parent: node, code });
      }
      node = child;
    }
    ends[node] = text.length;
  }
  linkSuffixes();

  function step(from: number, code: number): number {
    for (let node = from; ; node = fallback[node]!) {
      const child = children.get(node * 65_536 + code);
      if (child !== undefined) return child;
      if (node === 0) return 0;
    }
  }

  /** Nodes nearer to the root first: a suffix is shorter than what it is the suffix of. */
  function linkSuffixes(): void {
    const depth = new Int32Array(ends.length);
    for (const { node, parent } of order) depth[node] = depth[parent]! + 1;
    order.sort((a, b) => depth[a.node]! - depth[b.node]!);
    for (const { node, parent, code } of order) {
      if (parent !== 0) fallback[node] = step(fallback[parent]!, code);
      ends[node] ||= ends[fallback[node]!]!;
    }
  }

  return {
    longest,
    findIn(text) {
      const spans: Span[] = [];
      if (longest === 0) return spans;
      let node = 0;
      for (let at = 0; at < text.length; at++) {
        if (node === 0 && begins[hashAt(text, at)] === 0) continue;
        node = step(node, text.charCodeAt(at));
        const length = ends[node]!;
        if (length > 0) spans.push([at + 1 - length, at + 1]);
      }
      return spans;
    },
  };
}

function hashAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff;
}
