import { href } from '../../../shared/routes.ts';
import { Panel } from '../../components/panel.tsx';
import { plural } from '../../format.ts';
import { ProgressBar } from './progress-bar.tsx';

/** For whoever has few runs or none: what is missing, and how it comes about. */
export function GettingStarted({ runs, least }: { runs: number; least: number }) {
  return (
    <Panel title="How learning begins">
      <div class="stack">
        <p>
          {runs === 0
            ? 'There is no run to learn from yet.'
            : `There ${runs === 1 ? 'is' : 'are'} ${plural(runs, 'run')} to learn from.`}{' '}
          From {least} on there is something to learn; until then search ranks by text, which needs no runs.
        </p>
        <ProgressBar label="Runs to learn from" done={runs} total={least} />
        <ol class="learning-steps">
          <li>
            Connect a client on <a href={href.home()}>Home</a> and let it work. Every run that says what it is
            for (its <code>intent</code>) counts.
          </li>
          <li>
            Or take over runs of another machine with <code>pml trace import FILE</code>.
          </li>
          <li>
            Training starts by itself after 20 more runs, or when you say so here. What was learned ranks only
            once the newest runs prove it.
          </li>
        </ol>
      </div>
    </Panel>
  );
}
