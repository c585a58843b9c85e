import { NOTHING_FITS, NOTHING_LEARNED_APPLIES } from '../../../core/vocabulary/ranking-words.ts';
import { weighJson } from '../../../core/vocabulary/read-wire.ts';
import { oneLine } from '../../../core/vocabulary/text.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { OutputOf } from '../../../operations/operation.ts';
import { briefParameters, searchCapabilities } from '../../../operations/search-capabilities.ts';
import { type SearchToolsArguments, searchTools } from '../../../operations/search-tools.ts';
import { suggest } from '../../../operations/suggest.ts';
import { answer, type Present, twoDigits } from './meta-tool.ts';

const DEFAULTS = {
  maxHits: 50,
  /** Characters per response; if exceeded, each definition is cut to an equal share. */
  characters: 256 * 1024,
  /** Characters of a description in a list; `schemas` gives all of it. */
  description: 180,
  /** Characters of a reason. */
  reason: 120,
};

type Hit = OutputOf<typeof searchTools>['tools'][number];

/** Without score details, which are for people; definitions are shortened to fit. */
export const presentSearch: Present<SearchToolsArguments> = async (args, toolContext, { caller }) => {
  const { context, recent, shrink, words } = toolContext;
  const { schemas, ...rest } = args;
  const asked = { ...rest, context_tools: args.context_tools ?? [...recent.of(caller.sessionId)] };
  const found = await searchTools.run(
    context,
    { ...asked, brief: true, explain: false, capabilities: false },
    caller,
  );
  const links: JsonObject[] = [];
  let characters = 0;
  const tools = found.tools.map(({ parts: _, fits: __, brief: ___, ...hit }) => {
    const room = characters > DEFAULTS.characters ? shrink.shared(DEFAULTS.maxHits) : shrink;
    const shown = Object.entries(hit).map(([part, whole]) => {
      const { value, links: more } = room.value(whole);
      links.push(...more);
      return [part, value] as const;
    });
    characters += weighJson(shown).characters;
    return Object.fromEntries(shown);
  });
  const [first] = found.tools;
  const isForeign = first?.parts.learned_share === 0;
  const howFound = first?.fits === false ? NOTHING_FITS : isForeign ? NOTHING_LEARNED_APPLIES : undefined;
  const notes = [found.note, howFound].filter((note) => note);
  const note = notes.join(' ');
  const lines = found.tools.map((hit, at) => hitText(hit, schemas ? tools[at] : undefined));
  const said = await words.of(
    found.tools.map(({ server_id: server }) => server),
    caller,
  );
  const text = [...(note === '' ? [] : [note]), ...lines, ...said].join('\n');
  return answer({ tools, ...(note !== '' && { note }) }, schemas ? links : [], text || 'No tool found.');
};

/** `filesystem:read_file { path: string } -> string .83`, then the description; with `whole`, all of its definition. */
function hitText(hit: Hit, whole?: JsonObject): string {
  const { tool_id: id, brief, final_score: score, related_tools: related } = hit;
  const about = whole ? String(whole.description) : inShort(hit.description);
  return [
    `${id} ${brief} (${twoDigits(score)})`,
    ...(hit.warning === undefined ? [] : [`  ${hit.warning}`]),
    ...(about === '' ? [] : [`  ${about}`]),
    ...(whole ? [`  ${JSON.stringify(whole.input_schema)}`] : []),
    ...(related.length > 0
      ? [`  ${related.map(({ tool_id: other, relation }) => `${relation} ${other}`).join(', ')}`]
      : []),
  ].join('\n');
}

/** The first sentences of a description, as far as they fit. */
function inShort(description: string): string {
  const line = oneLine(description, DEFAULTS.description);
  const end = line.endsWith('…') ? line.lastIndexOf('. ') : -1;
  return end < DEFAULTS.description / 3 ? line : line.slice(0, end + 1);
}

type CapabilityHit = OutputOf<typeof searchCapabilities>['capabilities'][number];

export const presentCapabilities: Present<{ query: string; limit: number }> = async (
  args,
  { context },
  { caller },
) => {
  const found = await searchCapabilities.run(context, args, caller);
  const lines = found.capabilities.map(capabilityText);
  return answer(found, [], lines.length > 0 ? lines.join('\n') : 'No capability does this yet.');
};

/** `count_lines { path?: string }`, then what it does, and how often it did. */
function capabilityText(hit: CapabilityHit): string {
  const { slug, description, success_rate: rate, uses, tools_used: tools } = hit;
  const missing = tools.filter((tool) => !tool.startsWith('code:') && !description.includes(tool));
  const through = missing.length > 0 ? [`uses ${missing.join(', ')}`] : [];
  const facts = [`${Math.round(rate * 100)} % of ${uses} runs succeeded`, ...through];
  const about = inShort(description);
  return `${slug} ${briefParameters(hit)}\n  ${about} (${facts.join('; ')})`;
}

/** Without details for people: reasons of dependencies, and alternatives. */
export const presentSuggestion: Present<{ intent: string; executed: string[] }> = async (
  args,
  { context },
  { caller },
) => {
  const made = await suggest.run(context, args, caller);
  if ('next' in made) {
    const lines = made.next.map(({ node, score, reason }) => `${node} (${twoDigits(score)}) ${reason}`);
    if (lines.length === 0) lines.push('Nothing more: the job seems done.');
    return answer(made, [], [...lines, ...(made.note === undefined ? [] : [made.note])].join('\n'));
  }
  const { edges: _, alternatives: __, ...told } = made;
  return answer(told, [], suggestionText(told));
};

type Suggested = Omit<Extract<OutputOf<typeof suggest>, { plan: unknown }>, 'edges' | 'alternatives'>;

/** The tasks of a plan in order, what it needs, and how to run it. */
export function suggestionText(suggested: Suggested): string {
  const { plan, suggestion_id: id, support, basis, confidence } = suggested;
  const capabilities = suggested.suggested_capabilities.map(capabilityText);
  const learned =
    capabilities.length > 0 ? ['Proven routines, run with pml_execute and capability:', ...capabilities] : [];
  if (plan.tasks.length === 0 || id === null) return [suggested.reason ?? 'No plan.', ...learned].join('\n');
  const from = basis === 'runs' ? `from ${support} similar run${support === 1 ? '' : 's'}` : 'by text alone';
  const tasks = plan.tasks.map((task) => {
    const after = task.depends_on.length > 0 ? ` after ${task.depends_on.join(', ')}` : '';
    const work = task.tool ?? task.capability ?? oneLine(task.code ?? '', DEFAULTS.reason);
    return `${task.id} ${work} ${JSON.stringify(task.arguments)}${after}`;
  });
  const inputs = plan.inputs.map(({ name, description }) => {
    const about = oneLine(description, DEFAULTS.reason);
    return about === '' ? name : `${name} (${about})`;
  });
  const values = Object.fromEntries(plan.inputs.map(({ name }) => [name, '…']));
  const call = { suggestion_id: id, ...(inputs.length > 0 && { arguments: values }) };
  return [
    `Plan, ${twoDigits(confidence)} sure, ${from}:`,
    ...tasks,
    ...(inputs.length > 0 ? [`Inputs: ${inputs.join(', ')}`] : []),
    `Run it: pml_execute_workflow ${JSON.stringify(call)}; changed: add workflow.`,
    ...learned,
  ].join('\n');
}
