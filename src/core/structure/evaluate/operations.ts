/**
 * What user code does to data, as far as it is traced: the language's own functions, told by name.
 * Whether `x.filter` really is the language's own is told in the run.
 */

/** Methods of arrays, strings and what looks like them; the operation is named after the method. */
const METHODS: ReadonlySet<string> = new Set(
  `at concat entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes
  indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toReversed
  toSorted toSpliced unshift values
  charAt endsWith match matchAll padEnd padStart repeat replace replaceAll search split startsWith substring
  toLowerCase toUpperCase trim trimEnd trimStart`.split(/\s+/),
);

/** Functions that belong to one of the language's objects: `Object.keys`. */
const STATICS: ReadonlySet<string> = new Set(
  `Array.from Array.isArray Array.of
  JSON.parse JSON.stringify
  Math.abs Math.ceil Math.floor Math.max Math.min Math.pow Math.round Math.sqrt Math.trunc
  Number.isFinite Number.isInteger Number.isNaN Number.parseFloat Number.parseInt
  Object.assign Object.entries Object.fromEntries Object.groupBy Object.keys Object.values`.split(/\s+/),
);

/** Functions that stand alone, and are the same as one of the above. */
const GLOBALS: Readonly<Record<string, string>> = {
  parseFloat: 'Number.parseFloat',
  parseInt: 'Number.parseInt',
};

/** The result is made of what the given function answers. */
const ANSWER_MAKES_RESULT: ReadonlySet<string> = new Set([
  'Array.from',
  'flatMap',
  'map',
  'reduce',
  'reduceRight',
]);

/** They put values in without looking at what is there. */
const ADDERS: ReadonlySet<string> = new Set(['push']);

/** They change the array itself. */
const REARRANGERS: ReadonlySet<string> = new Set('fill pop reverse shift sort splice unshift'.split(' '));

/** A function given to them is called while they run. */
const TAKE_FUNCTION: ReadonlySet<string> = new Set(
  `every filter find findIndex findLast findLastIndex flatMap forEach map reduce reduceRight replace replaceAll
  some sort toSorted Array.from JSON.parse JSON.stringify Object.groupBy`.split(/\s+/),
);

/** The given function gets what came out so far first, then the element. */
const FOLDS: ReadonlySet<string> = new Set(['reduce', 'reduceRight']);

/** All names, as in `code:<name>`. */
export const OPERATIONS: readonly string[] = [...METHODS, ...STATICS];

export const isMethodOperation = (name: string): boolean => METHODS.has(name);
export const isStaticOperation = (name: string): boolean => STATICS.has(name);
export const globalOperation = (name: string): string | null =>
  Object.hasOwn(GLOBALS, name) ? GLOBALS[name]! : null;
export const answerMakesResult = (name: string): boolean => ANSWER_MAKES_RESULT.has(name);
export const isAdder = (name: string): boolean => ADDERS.has(name);
export const isRearranger = (name: string): boolean => REARRANGERS.has(name);
export const takesFunction = (name: string): boolean => TAKE_FUNCTION.has(name);
export const isFold = (name: string): boolean => FOLDS.has(name);
