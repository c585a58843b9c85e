import type { CallExpression, Span } from 'oxc-parser';
import { toolId } from '../../vocabulary/ids.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';
import type { Analysis, Arguments } from './analysis.ts';
import { provideArguments, readArguments } from './call-arguments.ts';
import { evaluateArguments } from './evaluate-arguments.ts';
import { isListed } from './evaluate-literal.ts';
import { type ApiValue, NOTHING_KNOWN, reachOf, type Value } from './value.ts';
import { depthOf, HOW_TO_CALL } from './value-members.ts';

/** A call of a tool or a capability, or of what should have been one. */
export function callApi(a: Analysis, call: Span, target: Value, args: Arguments): Value {
  if (target.kind !== 'api') return leaveCall(a, call, reachOf(target) ?? HOW_TO_CALL.mcp);
  if (target.path.length !== depthOf(target)) return leaveCall(a, call, HOW_TO_CALL[target.root]);
  const callee = calleeOf(target);
  if (typeof callee === 'string') return leaveCall(a, call, callee);
  const begins = a.flow.frontier;
  const content = { ...callee, arguments: readArguments(a, args) };
  const node = a.flow.step(call, content, call.start);
  provideArguments(a, node, args);
  // It is on its way; the program goes on until it waits for it.
  a.flow.frontier = begins;
  return { kind: 'promise', value: { kind: 'result', node, path: '' }, ends: [node], begins };
}

/** A call whose target is not known; nothing is known of its result either. */
export function leaveCall(a: Analysis, call: Span, reason: string): Value {
  a.draft.leaveUnresolved(call.start, a.textOf(call), reason);
  return NOTHING_KNOWN;
}

/** `f.call(self, …)`, `f.apply(self, […])`, `f.bind(self)`; null when it is none of these. */
export function callBound(a: Analysis, node: CallExpression, target: Value, name: string): Value | null {
  const isCallable =
    target.kind === 'function' || (target.kind === 'api' && target.path.length === depthOf(target));
  if (!isCallable || !['call', 'apply', 'bind'].includes(name)) return null;
  const [, ...texts] = node.arguments;
  const { values, more } = evaluateArguments(a, node.arguments);
  const [, ...rest] = values;
  if (name === 'bind') return rest.length === 0 && !more ? target : null;
  const list = rest[0];
  const args: Arguments =
    name === 'call'
      ? { values: rest, more, texts }
      : list && isListed(list)
        ? { values: [...list.props.values()].map(({ value }) => value ?? NOTHING_KNOWN), more, texts: [] }
        : { values: [], more: list ?? NOTHING_KNOWN, texts: [] };
  return target.kind === 'function'
    ? a.invoke({ fn: target, args, call: node })
    : callApi(a, node, target, args);
}

/** Text: why no such tool can exist. */
function calleeOf({ root, path }: ApiValue) {
  const [first = '', second = ''] = path;
  if (root === 'capabilities') return { type: 'capability', slug: first } as const;
  try {
    return { type: 'task', tool: toolId(first, second) } as const;
  } catch (thrown) {
    return PmlError.from(thrown).message;
  }
}
