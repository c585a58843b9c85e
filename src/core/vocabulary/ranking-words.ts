/** The ranker's features in plain words. */
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

/** Shown once, with the results of a query that is unlike everything learned. */
export const NOTHING_LEARNED_APPLIES = 'Nothing learned applies here: ranked by text.';

/** Shown once, with the nearest tools where none fits. */
export const NOTHING_FITS = 'Nothing fits: no attached tool does this. These are the nearest.';

/** A feature or head of the ranker, as shown to a person. */
export function rankingInWords(name: string): string {
  return WORDS[name] ?? name.replace(/^head_(\d+)$/, 'learned for similar intents and tools, part $1');
}
