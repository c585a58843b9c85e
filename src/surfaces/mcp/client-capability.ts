import type { JsonObject, UpstreamClient } from '../../engine/ports.ts';

/**
 * Why a client cannot be asked this; null if it can. A bare `elicitation: {}` means forms: clients declared
 * it before modes existed.
 */
export function cannotAsk(capabilities: JsonObject, method: string, params: JsonObject): string | null {
  const has = (name: string, member?: string) => {
    const declared = capabilities[name] as JsonObject | undefined;
    return declared !== undefined && (member === undefined || declared[member] !== undefined);
  };
  switch (method) {
    case 'elicitation/create': {
      if (params.mode === 'url') return has('elicitation', 'url') ? null : lacks('elicitation by URL');
      const forms = has('elicitation', 'form') || (has('elicitation') && !has('elicitation', 'url'));
      return forms ? null : lacks('elicitation by form');
    }
    case 'sampling/createMessage': {
      if (!has('sampling')) return lacks('sampling');
      const wantsTools = params.tools !== undefined || params.toolChoice !== undefined;
      return wantsTools && !has('sampling', 'tools') ? lacks('sampling with tools') : null;
    }
    case 'roots/list':
      return has('roots') ? null : lacks('roots');
    default:
      return `Clients cannot answer ${method}`;
  }
}

function lacks(what: string): string {
  return `The client does not support ${what}`;
}

/**
 * How the names of agents begin that give a model the structured content of a result instead of its text, or besides
 * it. With text alone they read everything once, and get pictures as pictures.
 */
const AGENTS = [
  'claude',
  'codex',
  'visual studio code',
  'vscode',
  'github-copilot',
  'cursor',
  'gemini',
  'antigravity',
  'windsurf',
  'cline',
  'roo',
  'kilo',
  'zed',
  'goose',
  'opencode',
  'qwen',
  'ai-sdk',
];

/** Whether a client's reader is a model; it may say otherwise with the experimental capabilities `pml/data` and `pml/text`. */
export function readsText({ info, capabilities }: Pick<UpstreamClient, 'info' | 'capabilities'>): boolean {
  const said = (capabilities.experimental ?? {}) as JsonObject;
  if (said['pml/data'] !== undefined || said['pml/text'] !== undefined) return said['pml/data'] === undefined;
  const name = String(info?.name ?? '')
    .slice(0, 100)
    .toLowerCase();
  return AGENTS.some((agent) => name.startsWith(agent));
}
