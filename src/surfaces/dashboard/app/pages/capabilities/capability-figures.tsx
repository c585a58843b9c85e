import type { Capability } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Time } from '../../components/time.tsx';
import { number, percent } from '../../format.ts';
import { shownLine } from '../../shown-text.ts';

/** State, success and where it stands; the latest outcomes as a row of marks. */
export function CapabilityFigures({ of }: { of: Capability }) {
  const { state, uses, success_rate, reliability, evidence, aliases, intent, tools_used } = of;
  const worked = evidence.recent.filter(Boolean).length;
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <StatusBadge status={state} />
        {state === 'candidate' && <span class="muted"> one more success makes it active</span>}
      </dd>
      <dt>Success</dt>
      <dd>
        {uses === 0 ? 'not used yet' : `${percent(success_rate)} of ${number(uses)}`}
        {evidence.recent.length > 0 && (
          <span
            class="capability-outcomes"
            role="img"
            aria-label={`${worked} of the latest ${evidence.recent.length} runs succeeded, oldest first`}
          >
            {evidence.recent.map((success, i) => (
              <i key={i} class={success ? 'capability-outcomes-good' : 'capability-outcomes-bad'} />
            ))}
          </span>
        )}
      </dd>
      <dt>Reliability</dt>
      <dd>
        {percent(reliability)}
        <span class="cell-note muted">the lower end of what the rate can be, given so few runs</span>
      </dd>
      {intent && (
        <>
          <dt>Made for</dt>
          <dd>{shownLine(intent, 240)}</dd>
        </>
      )}
      {aliases.length > 0 && (
        <>
          <dt>Also called</dt>
          <dd class="mono">{aliases.map((alias) => shownLine(alias, 60)).join(', ')}</dd>
        </>
      )}
      <dt>Calls</dt>
      <dd>
        {tools_used.length === 0 && <span class="muted">no tool</span>}
        {tools_used.map((tool) =>
          // What the program does by itself is no node of its own.
          tool.startsWith('code:') ? null : (
            <a key={tool} class="cell-note mono" href={href.graph({ node: tool })}>
              {shownLine(tool, 80)}
            </a>
          ),
        )}
      </dd>
      <dt>Since</dt>
      <dd>
        <Time at={of.created_at} />
      </dd>
    </dl>
  );
}
