import { useState } from 'preact/hooks';
import type { Answer } from '../../shared/api-types.ts';
import { postJson } from '../api.ts';
import { shownLine } from '../format.ts';
import { useResource } from '../resource.ts';
import { Await } from './states.tsx';

type Structure = Answer<'get_structure'>;

const DEFAULTS = {
  /** Levels that are indented; deeper steps use the last one. */
  depth: 12,
};

const KINDS: Readonly<Record<Structure['nodes'][number]['type'], string>> = {
  task: 'call',
  capability: 'call',
  operation: 'compute',
  decision: 'if',
  loop: 'repeat',
  fork: 'at once',
  join: 'wait for',
};

/** What a program can do, by static analysis, whatever its runs did; analysed when it is opened. */
export function Outline({ id, code }: { id: string; code: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="run-outline" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Outline</summary>
      {isOpen && <Steps id={id} code={code} />}
    </details>
  );
}

function Steps({ id, code }: { id: string; code: string }) {
  const structure = useResource<Structure>(`structure of ${id}`, {
    load: (signal) => postJson('/structure', { code }, signal),
  });
  return (
    <Await of={structure.state.value} retry={structure.reload}>
      {({ nodes, unresolved }) =>
        nodes.length + unresolved.length === 0 ? (
          <p class="muted">The program makes no calls.</p>
        ) : (
          <>
            <ol class="run-outline-steps" aria-label="Steps of the program">
              {nodes.map((node) => (
                <li key={node.id} style={{ paddingLeft: `${Math.min(node.depth, DEFAULTS.depth) * 20}px` }}>
                  <span class="faint">{KINDS[node.type]}</span>{' '}
                  <span class={KINDS[node.type] === 'call' ? 'strong' : ''}>{shownLine(node.name, 80)}</span>
                  {node.branch !== null && <span class="muted"> if {shownLine(node.branch, 20)}</span>}
                  <span class="muted"> {givenTo(node)}</span>
                  <span class="faint"> line {node.at.line}</span>
                </li>
              ))}
            </ol>
            {unresolved.length > 0 && (
              <>
                <h3 class="run-part">Known only at run time</h3>
                <ul aria-label="Known only at run time">
                  {unresolved.map(({ text, at, reason }) => (
                    <li key={`${at.line}:${at.column}`}>
                      {shownLine(text, 80)} <span class="muted">{shownLine(reason)}</span>
                      <span class="faint"> line {at.line}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
          </>
        )
      }
    </Await>
  );
}

function givenTo({ arguments: given }: Structure['nodes'][number]): string {
  const values = Object.entries(given).map(([name, value]) => `${name} = ${value}`);
  return shownLine(values.join(', '), 120);
}
