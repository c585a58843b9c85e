import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ErrorType, Trace } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, CopyButton } from '../../components/button.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { compact, duration, shownLine, shownText } from '../../format.ts';
import { type Call, rowsOf, tokensOf } from './calls.ts';
import { forkOf } from './prepare-replay.ts';
import { ReplayDialog } from './replay-dialog.tsx';

/** Advice for each kind of failure. */
export const HINTS: Readonly<Record<ErrorType, string>> = {
  TIMEOUT: 'The call timed out. Request less data, or raise timeout_ms.',
  PERMISSION: 'A rule or the server denied the call. See "permissions" in pml.json.',
  NOT_FOUND: 'Something in the arguments does not exist. Check the path or id.',
  VALIDATION: 'The arguments do not match the tool. Compare them with its schema.',
  NETWORK: 'The server could not be reached. Home shows its state.',
  UNKNOWN: 'Only the message is known.',
};

/** A call and the others of its run. */
interface CallOfRun {
  readonly call: Call;
  /** Absent while the run goes on. */
  readonly trace?: Trace;
  readonly calls: readonly Call[];
  nameOf(node: string): string;
  readonly flows: Trace['value_flow'];
}

/** One call in full: arguments, result, and where values came from and went. */
export function CallDetails(of: CallOfRun) {
  const { call, trace } = of;
  const [isForking, setForking] = useState(false);
  const isTool = !call.node.startsWith('capability:') && !call.node.startsWith('code:');
  return (
    <div class="call-details">
      <dl class="call-facts">
        <Fact name="began">{duration(call.start)}</Fact>
        <Fact name="took">{call.end === null ? 'still running' : duration(call.end - call.start)}</Fact>
        {call.children.length > 0 && <Fact name="made">{call.children.length} calls</Fact>}
        {isTool && tokensOf(call) > 0 && <Fact name="tokens">≈ {compact(tokensOf(call))}</Fact>}
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
      {isTool && trace && (
        <p>
          <Button needs="run" icon="refresh" onClick={() => setForking(true)}>
            Run again from here
          </Button>
        </p>
      )}
      {isForking && trace && (
        <ReplayDialog
          title="Run again from here"
          prepare={async () => forkOf(trace, call)}
          before={trace.id}
          onClose={() => setForking(false)}
        />
      )}
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

/** Values of a call's result that appear in the arguments of later calls. */
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
