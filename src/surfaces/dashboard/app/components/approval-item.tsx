import type { Approval } from '../../shared/api-types.ts';
import { href } from '../../shared/routes.ts';
import { alignLists } from '../align-lists.ts';
import { postJson } from '../api.ts';
import { shownLine, shownText } from '../format.ts';
import { useWaiting } from '../overview.ts';
import { Button } from './button.tsx';
import { JsonView } from './json-view.tsx';
import { SteadyRows } from './steady-rows.tsx';
import { Ago } from './time.tsx';
import { tellingOutcome } from './toast.tsx';

const DEFAULTS = {
  /** Pairs of lines that are compared, so that a long definition does not hold up the page. */
  cells: 1_000_000,
};

/** One exact call that waits for approval, with the buttons to decide. */
export function ApprovalItem({
  approval,
  isSettled,
  onSettled,
}: {
  approval: Approval;
  /** Still shown, but already decided. */
  isSettled: boolean;
  onSettled: () => void;
}) {
  const settle = async (decision: 'approve' | 'reject', done: string) => {
    const path = `/runs/${encodeURIComponent(approval.run_id)}/${decision}`;
    await tellingOutcome(postJson(path, { approval_ids: [approval.approval_id] }), done);
    onSettled();
  };
  const name = shownLine(approval.node, 80);
  return (
    <li class="waiting-item">
      <div class="waiting-call">
        <p>
          <a class="mono strong" href={href.workflow(approval.run_id)}>
            {shownText(approval.node)}
          </a>{' '}
          <span class="muted">
            <Ago at={approval.requested_at} />
          </span>
        </p>
        <p class="muted">{shownText(approval.reason)}</p>
        <ExactCall approval={approval} />
      </div>
      <div class="row">
        <Button
          needs="decide"
          kind="primary"
          icon="check"
          disabled={isSettled || approval.is_exact === false}
          onClick={() => settle('approve', 'Approved')}
        >
          Approve<span class="hidden"> {name}</span>
        </Button>
        <Button
          needs="decide"
          kind="danger"
          icon="cross"
          disabled={isSettled}
          onClick={() => settle('reject', 'Rejected')}
        >
          Reject<span class="hidden"> {name}</span>
        </Button>
      </div>
    </li>
  );
}

/** The complete call, and changes of the tool's definition since it was accepted. */
export function ExactCall({ approval }: { approval: Approval }) {
  const { arguments: args, program = {}, definition_changes: changes = [], is_exact: isExact } = approval;
  return (
    <>
      <section class="approval-arguments" aria-label="Exact arguments">
        <JsonView value={args} name="arguments" isWhole />
        {Object.entries(program).map(([kind, text]) => (
          <JsonView key={kind} value={text} name={kind} isWhole />
        ))}
      </section>
      {isExact === false && (
        <p class="approval-rule" role="note">
          Not all arguments are shown: only the gateway that runs the call has them. Here it can only be
          rejected.
        </p>
      )}
      {changes.length > 0 && (
        <section class="approval-arguments" aria-label="Changed definition">
          <p>The server changed this tool after you accepted it:</p>
          {changes.map(({ field, before, after }) => (
            <div key={field}>
              <p class="strong">{shownText(field)}</p>
              <Changes before={before} after={after} />
            </div>
          ))}
        </section>
      )}
    </>
  );
}

/** Both texts line by line: what is gone, what is new, and what stays. */
function Changes({ before, after }: { before: unknown; after: unknown }) {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (old.length * now.length > DEFAULTS.cells)
    return (
      <>
        <JsonView value={before} name="accepted" isWhole />
        <JsonView value={after} name="now" isWhole />
      </>
    );
  return (
    <pre class="changes">
      {alignLists(old, now, (a, b) => a === b).map(([was, is], nth) => {
        const Line = was === null ? 'ins' : is === null ? 'del' : 'span';
        return (
          <Line key={nth}>
            <span aria-hidden="true">{was === null ? '+ ' : is === null ? '− ' : '  '}</span>
            {is ?? was}
            {'\n'}
          </Line>
        );
      })}
    </pre>
  );
}

function linesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return shownText(whole).split('\n');
}

/** Approvals needed by something that this page is running. */
export function WaitingCall({ nodes }: { nodes: readonly string[] }) {
  const { waiting, reload } = useWaiting();
  const own = waiting.filter(({ node }) => nodes.includes(node));
  if (own.length === 0) return null;
  return (
    <section class="outcome" aria-label="Waiting for you">
      <SteadyRows rows={own} keyOf={({ approval_id }) => approval_id}>
        {(steady, isGone) => (
          <ul class="waiting-list">
            {steady.map((approval) => (
              <ApprovalItem
                key={approval.approval_id}
                approval={approval}
                isSettled={isGone(approval)}
                onSettled={reload}
              />
            ))}
          </ul>
        )}
      </SteadyRows>
    </section>
  );
}
