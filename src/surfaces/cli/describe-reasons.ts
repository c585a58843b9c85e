import { printable } from '../../core/vocabulary/printable.ts';
import type { SearchHit } from '../../engine/gateway.ts';

type Reasons = NonNullable<SearchHit['reasons']>;

const DEFAULTS = {
  /** Reasons that are told, the strongest. */
  shown: 5,
};

/** What the ranker looks at, in plain words. */
const WORDS: Readonly<Record<string, string>> = {
  hybrid: 'its text, as search reads it',
  whole: 'its meaning beside the whole query',
  clause: 'its meaning beside a part of the query',
  lexical: 'words it shares with the query',
  name: 'words of its name in the query',
  votes: 'the runs with the most similar intents used it',
  lexical_votes: 'the runs with the most similar words used it',
  warm_votes: 'runs used it, similar ones counting more',
  hot_votes: 'runs used it, the most similar alone counting much',
  nearest_user: 'the most similar run that used it',
  mean_user: 'how similar the runs that used it are on average',
  lexical_user: 'the words of a run that used it',
  clause_user: 'a part of a run that used it',
  popularity: 'how often it is used',
  co_use: 'it is used together with tools that fit',
  server_text: 'its server fits',
  server_votes: 'similar runs used its server',
};

/** Why a tool stands where it does: what moved it most, and the past runs most like this that used it. */
export function describeReasons({ parts, runs }: Reasons): string[] {
  const strongest = parts.filter(({ moved }) => Math.abs(moved) >= 0.005).slice(0, DEFAULTS.shown);
  return [
    ...strongest.map(
      ({ name, moved }) => `${moved < 0 ? '-' : '+'}${Math.abs(moved).toFixed(2)} ${inWords(name)}`,
    ),
    ...runs.map(
      ({ intent, similarity }) => `used for "${printable(intent)}" (${similarity.toFixed(3)} alike)`,
    ),
  ];
}

export function inWords(name: string): string {
  return (
    WORDS[name] ?? name.replace(/^head_(\d+)$/, 'what was learned of such intents and such tools, part $1')
  );
}
