import { useState } from 'preact/hooks';
import { duration } from '../../format.ts';
import { Value } from './call-details.tsx';
import { NodeName } from './call-list.tsx';
import { type Call, type CallPair, differencesOf } from './calls.ts';

export const SIDES = ['First', 'Second'] as const;

export function PairRow({
  pair,
  longest,
  nameOf,
}: {
  pair: CallPair;
  longest: number;
  nameOf: (node: string) => string;
}) {
  const [isOpen, setOpen] = useState(false);
  const differences = differencesOf(pair);
  const one = (pair.left ?? pair.right)!;
  const state = !pair.left ? 'added' : !pair.right ? 'gone' : differences.length > 0 ? 'changed' : 'same';
  return (
    <li class={`compare-pair compare-${state}`}>
      <button type="button" class="compare-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="compare-name" style={{ paddingLeft: `${Math.min(pair.depth, 8) * 18}px` }}>
          <span class="compare-mark" aria-hidden="true">
            {{ added: '+', gone: '−', changed: '≠', same: '=' }[state]}
          </span>
          <NodeName name={nameOf(one.node)} />
          {differences.length > 0 && <span class="compare-why">{differences.join(', ')}</span>}
        </span>
        <Side call={pair.left} longest={longest} side={0} />
        <Side call={pair.right} longest={longest} side={1} />
      </button>
      {isOpen && (
        <div class="compare-values">
          {[pair.left, pair.right].map((call, side) => (
            <div key={SIDES[side]}>
              {call ? (
                <>
                  <Value
                    title={`Arguments of the ${SIDES[side]?.toLowerCase()}`}
                    value={call.args}
                    none="Not stored."
                  />
                  <Value
                    title={`Result of the ${SIDES[side]?.toLowerCase()}`}
                    value={call.error ?? call.result}
                    none="Not stored."
                  />
                </>
              ) : (
                <p class="faint">Not in the {SIDES[side]?.toLowerCase()}.</p>
              )}
            </div>
          ))}
        </div>
      )}
    </li>
  );
}

function Side({ call, longest, side }: { call: Call | null; longest: number; side: number }) {
  if (!call) return <span class="compare-side compare-none">–</span>;
  const took = (call.end ?? call.start) - call.start;
  return (
    <span class={`compare-side chart-${side + 1}`}>
      <span class="compare-bar">
        <span
          class={`compare-fill compare-fill-${call.status}`}
          style={{ left: `${(call.start / longest) * 100}%`, width: `${(took / longest) * 100}%` }}
        />
      </span>
      <span class="number">{duration(took)}</span>
    </span>
  );
}
