import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What training/embedder/train.py writes, as far as it is shown. */
interface Gain {
  readonly base: number;
  readonly tuned: number;
  readonly gain: number;
  readonly ci95: readonly [number, number];
}
type Rows = Readonly<Record<string, Readonly<Record<'mrr' | 'ndcg10' | 'hit1', Gain>>>>;
interface Results {
  readonly chosen: string;
  readonly variants: Readonly<Record<string, { merit: number }>>;
  readonly sets: { readonly cosine: Rows; readonly fused: Rows };
  readonly heldOut: { readonly cosine: Rows; readonly fused: Rows };
  readonly distractors: { readonly cosine: Rows; readonly fused: Rows };
  readonly refitted: Rows;
  readonly pastIntents: Readonly<Record<string, readonly [number, number]>>;
}

const FOLDER = new URL('../../training/embedder/', import.meta.url);
const readme = readFileSync(new URL('README.md', FOLDER), 'utf8');
const read = (name: string): Results =>
  JSON.parse(readFileSync(new URL(`results/${name}.json`, FOLDER), 'utf8'));

const short = (value: number) => value.toFixed(3).replace('0.', '.');
const signed = (value: number) => `${value < 0 ? '' : '+'}${short(value)}`;
const gain = ({ gain, ci95 }: Gain) => `${signed(gain)} [${ci95.map(short).join(', ')}]`;
const change = (row: Gain) => `${short(row.base)} -> ${short(row.tuned)} | ${gain(row)}`;
const perSet = ({ cosine, fused }: Results['sets']) =>
  Object.keys(cosine).map(
    (name) => `| ${name} | ${change(cosine[name]!.mrr)} | ${change(fused[name]!.mrr)} |`,
  );
const means = (label: string, rows: Rows) => {
  const { mrr, ndcg10 } = rows['mean']!;
  return `| ${label} | ${gain(mrr)} | ${gain(ndcg10)} |`;
};

test('[HOUSE-19] the README of the embedder shows the figures of the run that made it', () => {
  const shipped = read('shipped');
  expect(readme).toContain(`\`${shipped.chosen}\``);
  for (const line of [
    ...perSet(shipped.sets),
    ...perSet(shipped.distractors),
    means('cosine', shipped.sets.cosine),
    means('fused', shipped.sets.fused),
    means('cosine, each set with the variant that the others chose', shipped.heldOut.cosine),
    means('fused, each set with the variant that the others chose', shipped.heldOut.fused),
    means('fused, weights refitted without the set', shipped.refitted),
    ...Object.entries(shipped.pastIntents).map(
      ([name, [base, tuned]]) => `| ${name} | ${short(base)} -> ${short(tuned)} |`,
    ),
  ])
    expect(readme).toContain(line);
});

test('[HOUSE-19] it shows every variant that was tried', () => {
  for (const run of ['first', 'second', 'shipped'])
    for (const [name, { merit }] of Object.entries(read(run).variants))
      expect(readme).toContain(`| ${name} | ${signed(merit)} |`);
});
