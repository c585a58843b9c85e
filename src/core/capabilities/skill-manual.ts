import { isJsonObject, type JsonObject } from '../vocabulary/read-wire.ts';
import { oneLine, withoutEnding } from '../vocabulary/text.ts';
import { schemaToType } from './tool-signature.ts';

/** Limits of the Agent Skills format, and of a readable table. */
const DEFAULTS = { maxName: 64, maxDescription: 1024, maxCell: 200, maxExample: 80 };

export interface Skill {
  readonly slug: string;
  readonly description: string;
  readonly code: string;
  readonly parametersSchema: unknown;
  readonly outputSchema: unknown;
  readonly toolsUsed: readonly string[];
}

/** SKILL.md: what any agent that reads Agent Skills needs to know, and how PML runs it. */
export function skillManual(skill: Skill): string {
  const { slug, code } = skill;
  const description = oneLine(skill.description, DEFAULTS.maxDescription);
  const example = JSON.stringify(exampleOf(skill.parametersSchema));
  const tools = skill.toolsUsed.filter((tool) => !tool.startsWith('code:'));
  return `---
name: ${skillName(slug)}
description: ${JSON.stringify(description)}
---

# ${slug.replaceAll('_', ' ')}

${escapeMarkdown(description)}

## Parameters

${parameterTable(skill.parametersSchema)}

It gives ${codeSpan(schemaToType(skill.outputSchema))}.

## How to run it

Through PML, in any of these ways:

- in code: ${codeSpan(`await capabilities.${slug}(${example})`)}
- as an MCP client: call \`pml_execute\` with ${codeSpan(`{"capability": "${slug}", "arguments": ${example}}`)}
- in a shell: ${codeSpan(`pml capability run ${slug} --args '${example.replaceAll("'", "'\\''")}'`)}

Another PML takes it over with \`pml capability import\` and this folder. Without PML, follow the code below with the
tools themselves.

## Tools it needs

${tools.length > 0 ? tools.map((tool) => `- ${codeSpan(tool)}`).join('\n') : 'None.'}

## Code

\`args\` holds the parameters, \`mcp.<server>.<tool>(args)\` calls a tool.

${fenced(code)}
`;
}

/** `count_words` -> `count-words`: lower-case letters, digits and single hyphens. */
function skillName(slug: string): string {
  const name = slug
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, DEFAULTS.maxName);
  return withoutEnding(name.replace(/^-+/, ''), '-') || 'skill';
}

function propertiesOf(schema: unknown): [name: string, property: JsonObject, isRequired: boolean][] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => [
    name,
    isJsonObject(property) ? property : {},
    required.includes(name),
  ]);
}

function parameterTable(schema: unknown): string {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return 'It takes none.';
  const rows = properties.map(([name, property, isRequired]) =>
    [
      cell(name),
      cell(schemaToType(property)),
      isRequired ? 'yes' : 'no',
      !isRequired && 'default' in property ? cell(JSON.stringify(property.default)) : '',
      escapeMarkdown(oneLine(property.description, DEFAULTS.maxCell)),
    ].join(' | '),
  );
  return ['name | type | required | default | what it is', '--- | --- | --- | --- | ---', ...rows]
    .map((row) => `| ${row} |`)
    .join('\n');
}

/** What must be given, with values it was given before, cut where they are long. */
function exampleOf(schema: unknown): Record<string, unknown> {
  const required = propertiesOf(schema).filter(([, , isRequired]) => isRequired);
  return Object.fromEntries(required.map(([name, { default: value = null }]) => [name, shortened(value)]));
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' ? oneLine(value, DEFAULTS.maxExample) : value;
}

function cell(text: string): string {
  return codeSpan(oneLine(text, DEFAULTS.maxCell)).replaceAll('|', '\\|');
}

/** With more backticks around than in a row within. */
function codeSpan(text: string): string {
  const fence = fenceFor(text, 1);
  const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${gap}${text}${gap}${fence}`;
}

function fenceFor(text: string, least: number): string {
  const runs = (text.match(/`+/g) ?? []).map((ticks) => ticks.length + 1);
  return '`'.repeat(runs.reduce((most, one) => Math.max(most, one), least));
}

/** Text from outside is text: no links, no HTML, no table cells of its own. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

/** The code cannot end its block. */
function fenced(code: string): string {
  const fence = fenceFor(code, 3);
  return `${fence}ts\n${code.trimEnd()}\n${fence}`;
}
