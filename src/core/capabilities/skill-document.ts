import { prepareProgram } from '../structure/emit/prepare-program.ts';
import { isSlug, kindOf, type NodeId } from '../vocabulary/ids.ts';
import type { Outcome } from '../vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject } from '../vocabulary/read-wire.ts';
import { oneLine } from '../vocabulary/text.ts';
import {
  type LearnedSlot,
  type ParametersSchema,
  parameterise,
  parametersSchema,
  readSlots,
} from './parameters.ts';
import { type Skill, skillManual } from './skill-manual.ts';
import { isReserved } from './slug.ts';
import { MAX_PROGRAM, templateOf } from './template.ts';
import { checkArguments } from './validate-arguments.ts';

const SKILL_FORMAT = 'pml-capability/1';

const DEFAULTS = {
  /** Characters of capability.json. */
  maxText: 1024 * 1024,
  maxDescription: 1024,
  maxIntent: 2000,
  /** Tools and aliases. */
  maxNames: 100,
  /** Characters of a schema. */
  maxSchema: 64 * 1024,
};

export interface ExportedCapability extends Skill {
  readonly aliases: readonly string[];
  readonly intentText: string;
  readonly template: { readonly source: string; readonly slots: readonly unknown[] };
}

/** Read from files, checked, and recomputed wherever it follows from the program. */
export interface ImportedCapability {
  readonly slug: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly intentText: string;
  readonly toolsUsed: readonly NodeId[];
  readonly template: { readonly source: string; readonly slots: readonly LearnedSlot[] };
  readonly code: string;
  readonly parametersSchema: ParametersSchema;
  readonly outputSchema: unknown;
}

/** A capability as an Agent Skill: SKILL.md for any agent, capability.json for another PML. */
export function toSkillFiles(capability: ExportedCapability): Record<string, string> {
  const { slug, aliases, description, intentText, toolsUsed, template } = capability;
  const { code, parametersSchema, outputSchema } = capability;
  return {
    'SKILL.md': skillManual(capability),
    'code.ts': `${code.trimEnd()}\n`,
    'schema.json': json({ parameters: parametersSchema, output: outputSchema ?? null }),
    'capability.json': json({
      format: SKILL_FORMAT,
      slug,
      aliases,
      description,
      intent: intentText,
      tools_used: toolsUsed,
      source: template.source,
      slots: template.slots,
      parameters: parametersSchema,
      output: outputSchema ?? null,
    }),
  };
}

/**
 * Nothing in the files is believed that can be worked out: code, parameters and the places of literals come from
 * the program itself. What is left is checked, and everything wrong is told at once.
 */
export function fromSkillFiles(files: Readonly<Record<string, string>>): Outcome<ImportedCapability> {
  const text = Object.hasOwn(files, 'capability.json') ? files['capability.json'] : undefined;
  if (typeof text !== 'string') return refused(['capability.json is missing']);
  if (text.length > DEFAULTS.maxText)
    return refused([`capability.json is longer than ${DEFAULTS.maxText} characters`]);
  const read = parse(text);
  if (!isJsonObject(read)) return refused(['capability.json is not a JSON object']);
  if (read.format !== SKILL_FORMAT)
    return refused([
      `its format is ${JSON.stringify(read.format) ?? 'not stated'}, and this PML reads ${SKILL_FORMAT}`,
    ]);
  const problems = [...checkArguments(FIELDS, read), ...checkNames(read)];
  if (problems.length > 0) return refused(problems);
  const { slug, aliases, description, intent, tools_used, source, slots, parameters, output } =
    read as unknown as SkillFields;

  const template = templateOf(source);
  if (!template.ok) return refused([`its program cannot be read: ${template.error.message}`]);
  const learned = readSlots(template.value, slots);
  if (!learned.ok) return refused(learned.problems);
  const code = parameterise(source, learned.slots);
  if (Object.hasOwn(files, 'code.ts') && clean(files['code.ts']) !== clean(code))
    return refused(['code.ts does not match the code in capability.json; one of them was changed']);
  return {
    ok: true,
    value: {
      slug,
      aliases: [...new Set(aliases)].filter((alias) => alias !== slug),
      description: oneLine(description, DEFAULTS.maxDescription),
      intentText: intent,
      toolsUsed: tools_used as NodeId[],
      template: { source, slots: learned.slots },
      code,
      parametersSchema: parametersSchema({
        slots: learned.slots,
        used: template.value.used,
        observed: parameters,
      }),
      outputSchema: output,
    },
  };
}

type Sha256 = (text: string) => string;

/** Why a capability may be trusted, as it travels with its files. */
export interface SkillEvidence {
  /** Of the code, as in code.ts. */
  readonly code_hash: string;
  /** By tool: the definition that it was proven with. */
  readonly definitions: Readonly<Record<string, string>>;
  /** Hashes of the recorded runs that it reproduced. */
  readonly cases: readonly string[];
  readonly effects: {
    readonly tools: readonly string[];
    /** Those that are not marked as read-only. */
    readonly writes: readonly string[];
    readonly hosts: readonly string[];
  };
}

/** Takes the place of the digest of capability.json, which cannot hold its own. */
const BLANK = '0'.repeat(64);
const DIGEST = /^[0-9a-f]{64}$/;
const OWN = 'capability.json';

/** The files with their evidence, and a digest of each: one that is changed later no longer fits. */
export function sealSkill(
  files: Readonly<Record<string, string>>,
  evidence: SkillEvidence | null,
  sha256: Sha256,
): Record<string, string> {
  const digestOf = (text: string) => sha256(unixLines(text));
  const others = Object.entries(files).filter(([name]) => name !== OWN);
  const digests = {
    ...Object.fromEntries(others.map(([name, text]) => [name, digestOf(text)])),
    [OWN]: BLANK,
  };
  const own = json({ ...(parse(files[OWN] ?? '') as object), evidence, digests });
  return { ...files, [OWN]: own.replace(BLANK, digestOf(own)) };
}

/** Files that are not as they were when they were written; none where they have no digests, as from older versions. */
export function brokenSeals(files: Readonly<Record<string, string>>, sha256: Sha256): string[] {
  const own = files[OWN] ?? '';
  const { digests } = (parse(own) ?? {}) as { digests?: unknown };
  if (digests === undefined) return [];
  if (!isJsonObject(digests)) return ['"digests" is not an object'];
  return Object.entries(files).flatMap(([name, text]) => {
    const digest = Object.hasOwn(digests, name) ? digests[name] : undefined;
    if (typeof digest !== 'string' || !DIGEST.test(digest)) return [`${name} has no digest`];
    const told = name === OWN ? withBlank(text, digest) : text;
    return told !== null && sha256(unixLines(told)) === digest ? [] : [`${name} was changed`];
  });
}

/** Null where the digest stands in more than one place. */
function withBlank(text: string, digest: string): string | null {
  const [before, after, ...more] = text.split(digest);
  return after === undefined || more.length > 0 ? null : `${before}${BLANK}${after}`;
}

function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** What the files of a capability prove, or everything that is wrong with them. */
export function verifySkill(
  files: Readonly<Record<string, string>>,
  sha256: Sha256,
): Outcome<{ readonly slug: string; readonly digest: string; readonly evidence: SkillEvidence }> {
  const missing = SKILL_FILES.filter((name) => !Object.hasOwn(files, name)).map(
    (name) => `${name} is missing`,
  );
  const broken = brokenSeals(files, sha256);
  const read = fromSkillFiles(files);
  if (missing.length + broken.length > 0 || !read.ok) {
    const told = [...missing, ...broken];
    return unproven(told.length > 0 || read.ok ? told : [read.error.message]);
  }
  const { evidence, digests } = parse(files[OWN]!) as {
    evidence?: unknown;
    digests?: Record<string, string>;
  };
  if (!digests) return unproven(['it has no digests']);
  if (!isJsonObject(evidence) || !isEvidence(evidence)) return unproven(['it has no evidence']);
  const problems = evidenceProblems(evidence, read.value.code, sha256);
  if (problems.length > 0) return unproven(problems);
  return { ok: true, value: { slug: read.value.slug, digest: digests[OWN]!, evidence } };
}

export const SKILL_FILES = ['SKILL.md', 'code.ts', 'schema.json', OWN];

function isEvidence(value: JsonObject): value is JsonObject & SkillEvidence {
  return checkArguments(EVIDENCE, value).length === 0;
}

const texts = { type: 'array', maxItems: DEFAULTS.maxNames, items: { type: 'string', maxLength: 500 } };

const EVIDENCE = {
  type: 'object',
  properties: {
    code_hash: { type: 'string' },
    definitions: { type: 'object', additionalProperties: { type: 'string' } },
    cases: texts,
    effects: {
      type: 'object',
      properties: { tools: texts, writes: texts, hosts: texts },
      required: ['tools', 'writes', 'hosts'],
    },
  },
  required: ['code_hash', 'definitions', 'cases', 'effects'],
};

/** Evidence speaks of this code, and names all that it calls. */
function evidenceProblems(
  { code_hash, cases, effects }: SkillEvidence,
  code: string,
  sha256: Sha256,
): string[] {
  const prepared = prepareProgram(code);
  const nodes = prepared.ok ? prepared.value.structure.nodes : [];
  const called = new Set(nodes.flatMap((node) => (node.type === 'task' ? [String(node.tool)] : [])));
  const unnamed = [...called].filter((tool) => !effects.tools.includes(tool));
  return [
    ...(code_hash === sha256(code) ? [] : ['its evidence is for different code']),
    ...(cases.length > 0 ? [] : ['it reproduced no recorded run']),
    ...(unnamed.length === 0 ? [] : [`its evidence does not name ${unnamed.join(', ')}`]),
  ];
}

function unproven(problems: readonly string[]): Outcome<never> {
  const message = `This copy cannot be verified: ${problems.join('; ')}`;
  const hint = 'Get it again from where it was exported, and compare its digest.';
  return { ok: false, error: { code: 'invalid_argument', message, hint } };
}

interface SkillFields {
  readonly slug: string;
  readonly aliases: readonly string[];
  readonly description: string;
  readonly intent: string;
  readonly tools_used: readonly string[];
  readonly source: string;
  readonly slots: readonly unknown[];
  readonly parameters: unknown;
  readonly output: unknown;
}

const names = { type: 'array', maxItems: DEFAULTS.maxNames, items: { type: 'string', maxLength: 200 } };

const FIELDS = {
  type: 'object',
  properties: {
    format: { type: 'string' },
    slug: { type: 'string' },
    aliases: names,
    description: { type: 'string', maxLength: DEFAULTS.maxDescription },
    intent: { type: 'string', maxLength: DEFAULTS.maxIntent },
    tools_used: names,
    source: { type: 'string', maxLength: MAX_PROGRAM },
    slots: { type: 'array' },
    parameters: { type: ['object', 'null'] },
    output: { type: ['object', 'null'] },
    evidence: { type: ['object', 'null'] },
    digests: { type: 'object' },
  },
  required: [
    'slug',
    'aliases',
    'description',
    'intent',
    'tools_used',
    'source',
    'slots',
    'parameters',
    'output',
  ],
  additionalProperties: false,
};

function checkNames({ slug, aliases, tools_used, parameters, output }: JsonObject): string[] {
  const slugs = [slug, ...(Array.isArray(aliases) ? aliases : [])];
  const nodes = Array.isArray(tools_used) ? tools_used : [];
  return [
    ...slugs.filter((one) => typeof one === 'string' && (!isSlug(one) || isReserved(one))).map(notASlug),
    ...nodes.filter((node) => typeof node === 'string' && !isNode(node)).map(notATool),
    ...(isLong(parameters) ? ['"parameters" is too long'] : []),
    ...(isLong(output) ? ['"output" is too long'] : []),
  ];
}

function isLong(schema: unknown): boolean {
  return (JSON.stringify(schema)?.length ?? 0) > DEFAULTS.maxSchema;
}

function notASlug(slug: unknown): string {
  return `"${oneLine(slug, 80)}" is not a valid name for a capability`;
}

function notATool(node: unknown): string {
  return `"${oneLine(node, 80)}" is not a tool`;
}

function isNode(node: string): boolean {
  if (kindOf(node) === 'capability') return /^capability:[0-9a-f-]{36}$/.test(node);
  return /^[A-Za-z0-9][\w.-]*:\S/.test(node);
}

function refused(problems: readonly string[]): Outcome<never> {
  return {
    ok: false,
    error: {
      code: 'invalid_argument',
      message: `This capability cannot be imported: ${problems.join('; ')}`,
      hint: 'Export it again with "pml capability export".',
    },
  };
}

/** Editors and version control may change ends of lines and of files. */
function clean(code: string | undefined): string | undefined {
  return code?.replaceAll('\r\n', '\n').trimEnd();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
