import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { toolId } from '../vocabulary/ids.ts';
import {
  type LearnedSlot,
  learnSlots,
  mergeObservation,
  parameterise,
  parametersSchema,
} from './parameters.ts';
import {
  brokenSeals,
  type ExportedCapability,
  fromSkillFiles,
  SKILL_FILES,
  type SkillEvidence,
  sealSkill,
  toSkillFiles,
  verifySkill,
} from './skill-document.ts';
import { templateOf } from './template.ts';

function capability(
  program: (path: string) => string,
  rest: Partial<ExportedCapability> = {},
): ExportedCapability {
  const [first, second] = [templateOf(program('a')), templateOf(program("it's `b`"))];
  if (!first.ok || !second.ok) throw new Error('not a program');
  const slots = mergeObservation(learnSlots(first.value), second.value);
  const source = program('a');
  return {
    slug: 'count_words',
    aliases: ['words'],
    description: 'Counts | words: "all" of them\nin a file.',
    intentText: 'count the words',
    toolsUsed: [toolId('fs', 'read'), 'code:map' as never],
    template: { source, slots },
    code: parameterise(source, slots),
    parametersSchema: parametersSchema({ slots, used: first.value.used }),
    outputSchema: { type: 'integer' },
    ...rest,
  };
}

const sample = () =>
  capability(
    (path) => `const text = await mcp.fs.read({ path: ${JSON.stringify(path)}, head: 3 });
// Words, not lines: \`\`\` and so on.
return text.split(/\\s+/).filter((word) => word.length > (args.least ?? 1)).length;`,
  );

test('[CAP-17] a capability survives export to files and import', () => {
  const exported = sample();
  const files = toSkillFiles(exported);
  expect(Object.keys(files)).toEqual(['SKILL.md', 'code.ts', 'schema.json', 'capability.json']);
  const outcome = fromSkillFiles(files);
  expect(outcome).toEqual({
    ok: true,
    value: { ...exported, description: 'Counts | words: "all" of them in a file.' },
  });
  const windows = { ...files, 'code.ts': files['code.ts']?.replaceAll('\n', '\r\n') ?? '' };
  expect(fromSkillFiles(windows)).toEqual(outcome);
  expect(fromSkillFiles({ 'capability.json': files['capability.json'] ?? '' })).toEqual(outcome);
});

test('[CAP-17] types of arguments that the code reads itself survive too', () => {
  const source = 'return mcp.fs.read({ path: args.path })';
  const template = templateOf(source);
  if (!template.ok) throw new Error(template.error.message);
  const schema = parametersSchema({
    slots: [],
    used: template.value.used,
    observed: { properties: { path: { type: 'string' } } },
  });
  const files = toSkillFiles({
    ...sample(),
    template: { source, slots: [] },
    code: source,
    parametersSchema: schema,
    outputSchema: null,
  });
  expect(fromSkillFiles(files)).toMatchObject({
    ok: true,
    value: { parametersSchema: schema, outputSchema: null },
  });
});

test('[CAP-18] SKILL.md tells any agent what it is, what it takes, how to run it and what it needs', () => {
  const {
    'SKILL.md': manual = '',
    'code.ts': code = '',
    'schema.json': schema = '',
  } = toSkillFiles(sample());
  expect(manual).toMatch(
    /^---\nname: count-words\ndescription: "Counts \| words: \\"all\\" of them in a file."\n---\n/,
  );
  expect(manual).toContain('\n| `path` | `string` | yes |  | path of fs:read |\n');
  expect(manual).toContain('\n| `head` | `number` | no | `3` | head of fs:read |\n');
  expect(manual).toContain('`await capabilities.count_words({"path":"a"})`');
  expect(manual).toContain(
    'call `pml_execute` with `{"capability": "count_words", "arguments": {"path":"a"}}`',
  );
  expect(manual).toContain(`\`pml capability run count_words --args '{"path":"a"}'\``);
  expect(manual).toContain('\n- `fs:read`\n');
  expect(manual).not.toContain('code:map');
  // The code has three backticks in a row, so its block has four.
  expect(manual).toContain(`\`\`\`\`ts\n${code}\`\`\`\`\n`);
  expect(code).toBe(`${sample().code}\n`);
  expect(JSON.parse(schema)).toEqual({ parameters: sample().parametersSchema, output: { type: 'integer' } });
});

test('[CAP-18] front matter stays within its limits, whatever the name and the description', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/),
      fc.string({ unit: 'binary', maxLength: 3000 }),
      (slug, description) => {
        const { 'SKILL.md': manual = '' } = toSkillFiles({ ...sample(), slug, description });
        const [, name = '', quoted = ''] = /^---\nname: (.*)\ndescription: (".*")\n---\n/.exec(manual) ?? [];
        expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(name.length).toBeLessThanOrEqual(64);
        expect(JSON.parse(quoted).length).toBeLessThanOrEqual(1024);
      },
    ),
    { seed: proofSeed(), numRuns: proofRuns(2000) },
  );
});

describe('[CAP-19] edited or invented files are refused with the reason', () => {
  const changed = (change: (fields: Record<string, unknown>) => void) => {
    const files = toSkillFiles(sample());
    const fields = JSON.parse(files['capability.json'] ?? '');
    change(fields);
    return { ...files, 'capability.json': JSON.stringify(fields) };
  };
  const slot = (index: number, values: object) => (fields: Record<string, unknown>) =>
    Object.assign((fields.slots as object[])[index] ?? {}, values);

  test.each<[string, Record<string, string>, RegExp]>([
    ['nothing', {}, /capability\.json is missing/],
    ['inherited names', Object.create({ 'capability.json': '{}' }), /capability\.json is missing/],
    ['no JSON', { 'capability.json': '{' }, /not a JSON object/],
    ['a list', { 'capability.json': '[]' }, /not a JSON object/],
    ['too much', { 'capability.json': ' '.repeat(2 * 1024 * 1024) }, /longer than/],
    [
      'another format',
      changed((fields) => Object.assign(fields, { format: 'pml-capability/2' })),
      /"pml-capability\/2", and this PML reads pml-capability\/1/,
    ],
    ['no format', { 'capability.json': '{}' }, /its format is not stated/],
    [
      'missing fields',
      { 'capability.json': '{"format":"pml-capability/1"}' },
      /"slug" is missing; "aliases" is missing/,
    ],
    ['unknown fields', changed((fields) => Object.assign(fields, { extra: 1 })), /"extra" is unknown/],
    [
      'a slug with a path',
      changed((fields) => Object.assign(fields, { slug: '../x' })),
      /"\.\.\/x" is not a valid name for a capability/,
    ],
    [
      'a reserved slug',
      changed((fields) => Object.assign(fields, { slug: 'then' })),
      /"then" is not a valid name for a capability/,
    ],
    [
      'a bad alias',
      changed((fields) => Object.assign(fields, { aliases: ['A b'] })),
      /"A b" is not a valid name for a capability/,
    ],
    [
      'a bad tool',
      changed((fields) => Object.assign(fields, { tools_used: ['rm -rf'] })),
      /"rm -rf" is not a tool/,
    ],
    [
      'a long description',
      changed((fields) => Object.assign(fields, { description: 'x'.repeat(2000) })),
      /"description" must have at most 1024 characters/,
    ],
    [
      'no program',
      changed((fields) => Object.assign(fields, { source: 'const = 1', slots: [] })),
      /program cannot be read/,
    ],
    [
      'another program',
      changed((fields) => Object.assign(fields, { source: 'return mcp.fs.remove({})' })),
      /lists \d+ literals, and the program has 0/,
    ],
    ['other code', { ...toSkillFiles(sample()), 'code.ts': 'return 1' }, /code\.ts does not match the code/],
    [
      'code in a name',
      changed(slot(0, { parameter: 'x;evil()' })),
      /"slots\[0\]" has no name for its parameter/,
    ],
    ['an inherited name', changed(slot(0, { parameter: '__proto__' })), /"slots\[0\]" has no name/],
    [
      'a name used twice',
      changed(slot(0, { parameter: 'head' })),
      /"slots\[1\]" has the name head of another parameter/,
    ],
    ['the name of an argument', changed(slot(0, { parameter: 'least' })), /"slots\[0\]" has the name least/],
    ['values of another kind', changed(slot(0, { seen: [{}] })), /"slots\[0\]" has values of another kind/],
    [
      'an output that is none',
      changed((fields) => Object.assign(fields, { output: 'x' })),
      /"output" must be an object or null/,
    ],
    [
      'a huge schema',
      changed((fields) => Object.assign(fields, { parameters: { x: 'x'.repeat(100_000) } })),
      /"parameters" is too long/,
    ],
  ])('%s', (_, files, message) => {
    expect(fromSkillFiles(files)).toMatchObject({
      ok: false,
      error: { code: 'invalid_argument', message: expect.stringMatching(message), hint: expect.any(String) },
    });
  });

  test('slot positions that are not those of the literals are ignored', () => {
    const files = changed((fields) => {
      for (const one of fields.slots as object[]) Object.assign(one, { start: 0, end: 10, isFixed: true });
    });
    expect(fromSkillFiles(files)).toEqual(fromSkillFiles(toSkillFiles(sample())));
  });

  test('no file makes the reader throw', () => {
    const good = JSON.parse(toSkillFiles(sample())['capability.json'] ?? '');
    const field = fc.constantFrom(...Object.keys(good), 'other');
    fc.assert(
      fc.property(field, fc.oneof(fc.jsonValue(), fc.string()), (name, value) => {
        const outcome = fromSkillFiles({ 'capability.json': JSON.stringify({ ...good, [name]: value }) });
        if (!outcome.ok) return;
        const { template, code } = outcome.value;
        expect(code).toBe(parameterise(template.source, template.slots as LearnedSlot[]));
      }),
      { seed: proofSeed(), numRuns: proofRuns(5000) },
    );
  });
});

describe('evidence that travels', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const evidence = (): SkillEvidence => ({
    code_hash: sha256(sample().code),
    definitions: { 'fs:read': sha256('fs:read') },
    cases: [sha256('one'), sha256('two')],
    effects: { tools: ['fs:read'], writes: [], hosts: ['files.example:8443'] },
  });
  const sealed = (told: SkillEvidence | null = evidence()) => sealSkill(toSkillFiles(sample()), told, sha256);

  test('[PROOF-5] an unchanged copy is verified, also with other line endings; its files can be imported', () => {
    const files = sealed();
    const verified = verifySkill(files, sha256);
    expect(verified).toMatchObject({ ok: true, value: { slug: 'count_words', evidence: evidence() } });
    const windows = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, text.replaceAll('\n', '\r\n')]),
    );
    expect(verifySkill(windows, sha256)).toEqual(verified);
    expect(fromSkillFiles(files)).toEqual(fromSkillFiles(toSkillFiles(sample())));
    expect(brokenSeals({ 'capability.json': files['capability.json']! }, sha256)).toEqual([]);
    expect(brokenSeals(toSkillFiles(sample()), sha256)).toEqual([]);
  });

  test('[PROOF-5] a copy with any change is refused', () => {
    const files = sealed();
    const change = fc.record({ file: fc.nat(3), at: fc.nat(), how: fc.nat(3), by: fc.nat(93) });
    fc.assert(
      fc.property(change, ({ file, at: place, how, by }) => {
        const name = SKILL_FILES[file]!;
        const text = files[name]!;
        const at = place % text.length;
        const [before, old, after] = [text.slice(0, at), text[at]!, text.slice(at + 1)];
        const other = String.fromCharCode(33 + by);
        const changed = [
          `${before}${after}`,
          `${before}${other}${after}`,
          `${before}${old}${other}${after}`,
          before,
        ][how]!;
        fc.pre(changed !== text);
        expect(verifySkill({ ...files, [name]: changed }, sha256)).toMatchObject({ ok: false });
      }),
      { seed: proofSeed(), numRuns: proofRuns(200) },
    );
    for (const name of SKILL_FILES) {
      const { [name]: _, ...rest } = files;
      expect(verifySkill(rest, sha256)).toMatchObject({ ok: false });
    }
  });

  test.each<[string, SkillEvidence | null, string]>([
    ['no evidence', null, 'no evidence'],
    ['other code', { ...evidence(), code_hash: sha256('x') }, 'for different code'],
    ['no case', { ...evidence(), cases: [] }, 'reproduced no recorded run'],
    [
      'a tool left out',
      { ...evidence(), effects: { tools: [], writes: [], hosts: [] } },
      'does not name fs:read',
    ],
  ])('[PROOF-5] %s is refused, even with new digests', (_, told, why) => {
    expect(verifySkill(sealed(told), sha256)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(why) },
    });
  });
});
