import type { Capabilities, Plan, Trace, WholeRun } from '../../../shared/api-types.ts';
import { ApiError, getJson } from '../../api.ts';
import { type Call, callsOf } from './calls.ts';

/** Placeholder for a secret, or for the rest of a long value, in a trace. */
const NOT_KEPT = /\[redacted\]|\[cut \d+ (?:bytes|items)\]/;

/** A run to repeat: the request, and its description. */
export interface Replay {
  readonly path: '/execute' | '/workflows' | `/runs/${string}/fork`;
  readonly body: Readonly<Record<string, unknown>>;
  /** Shown before the user confirms. */
  readonly says: string;
  readonly shown: { readonly title: string; readonly code?: string; readonly value?: unknown };
}

/** Throws an `ApiError` with the reason if the run cannot be repeated exactly. */
export async function replayOf(trace: Trace): Promise<Replay> {
  const intent = trace.intent_text === null ? {} : { intent: trace.intent_text };
  const args = (trace.guest?.args ?? {}) as Readonly<Record<string, unknown>>;
  const replay = await prepared(trace, args, intent);
  if (NOT_KEPT.test(JSON.stringify(replay.body))) {
    throw impossible(
      'This run cannot be repeated exactly: secrets are not stored and long values are cut',
      'Ask the agent to run it again.',
    );
  }
  return replay;
}

/** Goes on from a call of a run; the gateway refuses where the past cannot be repeated, and says why. */
export function forkOf(trace: Trace, call: Call): Replay {
  return {
    path: `/runs/${encodeURIComponent(trace.id)}/fork`,
    body: { at: call.id },
    says: 'Runs the program again from this call on. The calls before it are answered from the recording.',
    shown: { title: call.node, value: call.args ?? {} },
  };
}

async function prepared(trace: Trace, args: Replay['body'], intent: object): Promise<Replay> {
  switch (trace.kind) {
    case 'code':
      return {
        path: '/execute',
        body: { code: trace.code, arguments: args, ...intent },
        says: 'Runs the same program with the same arguments and the current tools.',
        shown: { title: 'Program', code: trace.code ?? '' },
      };
    case 'capability': {
      const { capabilities } = await getJson<Capabilities>('/capabilities');
      const found = capabilities.find(({ id }) => id === trace.capability_id);
      if (!found) throw impossible('The capability of this run was deleted', 'Its code is under "Program".');
      return {
        path: '/execute',
        body: { capability: found.slug, arguments: args, ...intent },
        says: 'Runs the current version of the capability with the same arguments.',
        shown: { title: `capabilities.${found.slug}`, value: args },
      };
    }
    case 'workflow': {
      const run = await getJson<WholeRun>(`/runs/${encodeURIComponent(trace.run_id)}`);
      return workflowReplay(run.plan, run.not_kept, intent);
    }
    case 'tool': {
      const [call] = callsOf(trace.events);
      if (!call) throw impossible('No call of this run was stored', 'Ask the agent to run it again.');
      return {
        path: '/execute',
        body: { tool: call.node, arguments: call.args ?? {}, ...intent },
        says: 'Makes the same call with the same arguments.',
        shown: { title: call.node, value: call.args ?? {} },
      };
    }
  }
}

export function workflowReplay(plan: Plan | null, notKept: readonly string[], intent: object): Replay {
  if (!plan) throw impossible('The plan of this run was not stored', 'Ask the agent to run it again.');
  if (notKept.length > 0) {
    throw impossible(
      `These tasks contained secrets, which are not stored: ${notKept.join(', ')}`,
      'Ask the agent to run it again.',
    );
  }
  return {
    path: '/workflows',
    body: { workflow: plan, run_id: crypto.randomUUID(), ...intent },
    says: 'Runs the same plan from the start with the current tools.',
    shown: { title: `${plan.tasks.length} tasks`, value: plan },
  };
}

function impossible(message: string, hint: string): ApiError {
  return new ApiError(0, 'not_available', message, hint);
}
