import type { JsonObject } from '../../engine/ports.ts';

/**
 * Why a client cannot be asked this; null when it can. A bare `elicitation: {}` means forms: it is
 * what clients declared before there were modes.
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
      return `A client cannot be asked for ${method}`;
  }
}

function lacks(what: string): string {
  return `The client does not support ${what}`;
}
