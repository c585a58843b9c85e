import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Gateway } from './gateway.ts';

const DEFAULTS = {
  /** In characters. More than anybody says of one job; it is kept, split into clauses and embedded. */
  maxIntent: 16_384,
  /** Of a query; how much of it is read is the search's business. */
  maxQuery: 65_536,
  /** Of a tool's or a capability's name. */
  maxName: 1_024,
};

/**
 * Texts come from anybody: how long they are is seen before anything looks at what they say. Code is
 * bounded by its parser, as a run that fails. What begins is told, by its kind alone.
 */
export function boundedGateway(begin: (what: string) => void, gateway: Gateway): Gateway {
  return {
    ...gateway,
    async searchTools(query) {
      checkQuery(query.query);
      for (const name of [query.server, ...(query.contextTools ?? [])]) checkName(name);
      begin('search tools');
      return await gateway.searchTools(query);
    },
    async searchCapabilities(query, limit, caller) {
      checkQuery(query);
      begin('search capabilities');
      return await gateway.searchCapabilities(query, limit, caller);
    },
    async suggest(intent, caller) {
      checkIntent(intent);
      begin('suggest');
      return await gateway.suggest(intent, caller);
    },
    async predictNext(intent, executed) {
      checkIntent(intent);
      for (const name of executed) checkName(name);
      begin('predict next');
      return await gateway.predictNext(intent, executed);
    },
    async executeTool(call, caller) {
      checkName(call.tool);
      checkIntent(call.intent);
      begin('execute tool');
      return await gateway.executeTool(call, caller);
    },
    async executeCode(call, caller) {
      checkIntent(call.intent);
      begin('execute code');
      return await gateway.executeCode(call, caller);
    },
    async executeCapability(call, caller) {
      checkName(call.capability);
      checkIntent(call.intent);
      begin('execute capability');
      return await gateway.executeCapability(call, caller);
    },
    async executeWorkflow(plan, intent, caller, runId, suggestionId) {
      checkIntent(intent ?? undefined);
      begin('execute workflow');
      return await gateway.executeWorkflow(plan, intent, caller, runId, suggestionId);
    },
    async planFromCode(code, args) {
      begin('plan from code');
      return await gateway.planFromCode(code, args);
    },
    async executeAsPlan(call, caller, runId) {
      checkIntent(call.intent);
      begin('execute as plan');
      return await gateway.executeAsPlan(call, caller, runId);
    },
    async executeIntent(call, caller, runId) {
      checkIntent(call.intent);
      begin('execute intent');
      return await gateway.executeIntent(call, caller, runId);
    },
  };
}

export function checkIntent(intent: string | undefined): void {
  check(
    'intent',
    intent,
    DEFAULTS.maxIntent,
    'Say what is wanted in a few sentences; give data as arguments.',
  );
}

function checkQuery(query: string): void {
  check('query', query, DEFAULTS.maxQuery, 'Describe the tool in a few words.');
}

function checkName(name: string | undefined): void {
  check('name', name, DEFAULTS.maxName, 'Names come from pml_search_tools and pml_search_capabilities.');
}

function check(what: string, text: string | undefined, most: number, hint: string): void {
  if (text === undefined || text.length <= most) return;
  const message = `The ${what} has ${text.length} characters, and ${most} is the most there can be`;
  throw new PmlError('too_large', message, { hint });
}
