import { href } from '../../../shared/routes.ts';
import { kindOf } from '../../../shared/vocabulary.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { JsonView, LongText } from '../../components/json-view.tsx';
import { EmptyState } from '../../components/states.tsx';
import { Duration } from '../../components/time.tsx';
import { shownLine } from '../../shown-text.ts';
import { NodeGlyph } from './node-glyph.tsx';
import { hrefOf } from './node-list.tsx';
import type { RunCall } from './run-drawing.ts';

/** One call of a run: what it was given, what came of it, and what ran beside it. */
export function CallDetails({
  id,
  calls,
  run,
  labelOf,
}: {
  id: string;
  calls: readonly RunCall[];
  run: string;
  labelOf: (node: string) => string;
}) {
  const call = calls.find((each) => each.id === id);
  if (!call) return <EmptyState icon="info" title="This run has no such call" />;
  const within = calls.find(({ traceId }) => traceId === call.parent);
  return (
    <div class="graph-details">
      <header>
        <h2>
          <NodeGlyph kind={kindOf(call.node)} />
          {shownLine(labelOf(call.node), 120)}
        </h2>
        <p class="muted mono">{shownLine(call.id, 160)}</p>
      </header>
      <div class="row">
        <StatusBadge status={call.success ? 'success' : 'error'} />
        {call.durationMs !== null && <Duration ms={call.durationMs} />}
      </div>
      {call.error && (
        <p class="bad">
          <LongText text={call.error} />
        </p>
      )}
      <div class="row">
        <a class="button button-plain" href={href.graph({ node: call.node })}>
          All that is known of it
        </a>
        <a class="button button-plain" href={href.run(run)}>
          The run
        </a>
      </div>
      {within && (
        <section>
          <h3>Called by</h3>
          <a href={hrefOf(within.id)}>{shownLine(labelOf(within.node), 100)}</a>
        </section>
      )}
      {call.parallelWith.length > 0 && (
        <section>
          <h3>At the same time</h3>
          <ul class="graph-related">
            {call.parallelWith.map((other) => (
              <li key={other}>
                <a href={hrefOf(other)}>{shownLine(other, 100)}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Value title="Was given" value={call.args} />
      <Value title="Gave" value={call.result} />
    </div>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  if (value === undefined) return null;
  return (
    <section>
      <h3>{title}</h3>
      <JsonView value={value} />
    </section>
  );
}
