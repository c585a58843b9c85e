import '../workflows/workflows.css';
import type { ListedRun, StandingApproval } from '../../../shared/api-types.ts';
import { Icon } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await } from '../../components/states.tsx';
import { SteadyRows } from '../../components/steady-rows.tsx';
import { moveFocus } from '../../components/tabs.tsx';
import { plural, shownLine } from '../../format.ts';
import { Notices } from '../../notices.tsx';
import { refusal } from '../../who.ts';
import { ApprovalCard } from '../workflows/approval-card.tsx';
import { pendingOf, revoke, useStandingApprovals, useWorkflowRuns } from '../workflows/workflow-runs.ts';

/** What waits for a person, and what needs no approval any more. */
export default function ApprovalsPage() {
  const runs = useWorkflowRuns();
  return (
    <>
      <PageHead
        title="Approvals"
        lead="Calls waiting for you, exactly as they will run."
        actions={<Notices />}
      />
      <div class="stack">
        <Await of={runs.state.value} retry={runs.reload}>
          {(data) => (
            <>
              <Waiting runs={data.runs} />
              {refusal('decide') === null && <AllowedAlways />}
            </>
          )}
        </Await>
      </div>
    </>
  );
}

function Waiting({ runs }: { runs: readonly ListedRun[] }) {
  const waiting = runs.flatMap((run) => pendingOf(run).map((approval) => ({ run, approval })));
  return (
    <Panel title={waiting.length === 0 ? 'Waiting' : `${plural(waiting.length, 'approval')} waiting for you`}>
      {waiting.length === 0 ? (
        <p class="waiting-none">
          <Icon name="check" size={16} /> Nothing needs your approval. Calls that need it under your rules
          appear here.
        </p>
      ) : (
        <SteadyRows rows={waiting} keyOf={({ approval }) => approval.approval_id}>
          {(steady) => (
            <ul class="approvals" onKeyDown={(event) => moveFocus(event, '.approval')}>
              {steady.map(({ run, approval }) => (
                <li key={approval.approval_id}>
                  <ApprovalCard run={run} approval={approval} />
                </li>
              ))}
            </ul>
          )}
        </SteadyRows>
      )}
    </Panel>
  );
}

const SCOPES: Readonly<Record<StandingApproval['scope'], string>> = {
  tool: 'always',
  arguments: 'with these arguments',
  session: 'in one session',
};

/** What needs no approval any more, because somebody said so. */
function AllowedAlways() {
  const allowed = useStandingApprovals();
  const approvals = allowed.state.value.data?.approvals ?? [];
  if (approvals.length === 0) return null;
  return (
    <Panel title="Allowed until revoked">
      <ul class="waiting-list">
        {approvals.map((one) => (
          <li key={one.id} class="waiting-item">
            <p>
              <span class="mono strong">{shownLine(one.node, 80)}</span> {SCOPES[one.scope]}
              <span class="muted">
                {one.user === null ? '' : `, calls of ${shownLine(one.user, 40)}`}, by{' '}
                {shownLine(one.allowed_by, 40)}
              </span>
            </p>
            <Button needs="decide" onClick={() => void revoke(one).then(allowed.reload)}>
              Revoke<span class="hidden"> {shownLine(one.node, 80)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
