import type { ComponentChildren } from 'preact';
import type { ErrorType, Trace } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { Badge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { duration, shownLine, shownText } from '../../format.ts';
import { type Call, rowsOf } from './calls.ts';

/** What to do about each kind of failure. */
export const HINTS: Readonly<Record<ErrorType, string>> = {
  TIMEOUT: 'It exceeded its time limit. Ask for less, or raise timeout_ms.',
  PERMISSION: 'A rule or the server does not allow it. See "permissions" in pml.json.',
  NOT_FOUND: 'Something it refers to does not exist. Check the path or id in its arguments.',
  VALIDATION: 'The arguments do not fit the tool. Compare them with its schema.',
  NETWORK: 'The server could not be reached. Home shows its state.',
  UNKNOWN: 'No details are known beyond the message.',
};

/** A call among those of its run. */
interface CallOfRun {
  readonly call: Call;
  readonly calls: readonly Call[];
  nameOf(node: string): string;
  readonly flows: Trace['value_flow'];
}

/** All of one call: what went in, what came out, where values came from and went. */
export function CallDetails(of: CallOfRun) {
  const { call } = of;
  const isTool = !call.node.startsWith('capability:') && !call.node.startsWith('code:');
  return (
    <div class="call-details">
      <dl class="call-facts">
        <Fact name="began">{duration(call.start)}</Fact>
        <Fact name="took">{call.end === null ? 'still running' : duration(call.end - call.start)}</Fact>
        {call.children.length > 0 && <Fact name="made">{call.children.length} calls</Fact>}
        {isTool && (
          <Fact name="see">
            <a href={href.graph({ node: call.node })}>in the graph</a>,{' '}
            <a href={href.runs({ tool: call.node })}>its other runs</a>
          </Fact>
        )}
      </dl>
      {call.error !== null && (
        <div class="call-failure">
          <p>
            {call.errorType && <Badge tone="bad">{call.errorType}</Badge>}{' '}
            {shownText(call.error.slice(0, 4000))}
          </p>
          {call.errorType && <p class="muted">{HINTS[call.errorType]}</p>}
        </div>
      )}
      <div class="call-values">
        <Value title="Arguments" value={call.args} none="Not stored." />
        {call.error === null && (
          <Value
            title="Result"
            value={call.result}
            none={call.end === null ? 'Not available yet.' : 'Not stored.'}
          />
        )}
      </div>
      <Flows {...of} />
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Value({ title, value, none }: { title: string; value: unknown; none: string }) {
  return (
    <section class="call-value" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {value !== undefined && (
          <CopyButton text={JSON.stringify(value, null, 2)} label={`Copy ${title.toLowerCase()}`} />
        )}
      </header>
      {value === undefined ? <p class="faint">{none}</p> : <JsonView value={value} />}
    </section>
  );
}

/** Values of one call's result that stand among the arguments of a later one. */
function Flows({ call, calls, nameOf, flows }: CallOfRun) {
  const known = new Set(rowsOf(calls).map(({ id }) => id));
  const from = flows.filter(
    ({ to_trace_id, from_trace_id }) => to_trace_id === call.id && known.has(from_trace_id),
  );
  const to = flows.filter(
    ({ from_trace_id, to_trace_id }) => from_trace_id === call.id && known.has(to_trace_id),
  );
  if (from.length + to.length === 0) return null;
  return (
    <ul class="call-flows">
      {from.slice(0, 8).map((flow, i) => (
        <li key={`from ${i}`}>
          <code>{shownLine(flow.to_path, 60)}</code> came from{' '}
          <code>{shownLine(flow.from_path || 'the result', 60)}</code> of {nameOf(flow.from)}
        </li>
      ))}
      {to.slice(0, 8).map((flow, i) => (
        <li key={`to ${i}`}>
          <code>{shownLine(flow.from_path || 'the result', 60)}</code> went into{' '}
          <code>{shownLine(flow.to_path, 60)}</code> of {nameOf(flow.to)}
        </li>
      ))}
    </ul>
  );
}
