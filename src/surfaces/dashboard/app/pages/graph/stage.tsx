import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Trace } from '../../../shared/api-types.ts';
import { Button } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Skeleton } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';

import { tellingOutcome } from '../../components/toast.tsx';
import { setQuery } from '../../router.ts';
import { saveFile, saveFrom } from '../../save-file.ts';
import type { Drawing } from './drawing.ts';
import { filtered, filterToQuery } from './filter.ts';
import { type CanvasHandle, GraphCanvas } from './graph-canvas.tsx';
import {
  BACKGROUNDS,
  choose,
  type GraphState,
  type Mode,
  type PanelName,
  setMode,
  setTogether,
} from './graph-state.ts';
import { huesOf } from './graph-style.ts';
import { Legend } from './legend.tsx';
import { findNodes, NodeList } from './node-list.tsx';
import { regionsOf } from './paint-background.ts';
import type { Place, Settled } from './use-layout.ts';
import type { MarkedPath } from './viewport.ts';

const TITLES: Readonly<Record<PanelName, string>> = { nodes: 'Nodes', details: 'Details', path: 'Path' };

/** The drawing and its controls, the same in both modes. */
export function Stage({
  state,
  drawing: unplaced,
  settled,
  path = null,
  lead,
  trace,
  panels,
  onMove = () => {},
  onLayOut = () => {},
}: {
  state: GraphState;
  /** What is going to be drawn: the legend has its place before the layout is known. */
  drawing: Drawing;
  /** Null while the first layout is being computed. */
  settled: Settled | null;
  path?: MarkedPath | null;
  lead: ComponentChildren;
  trace?: Trace;
  /** Panels of the tabs besides the list of nodes. */
  panels: Partial<Record<PanelName, ComponentChildren>>;
  onMove?: (id: string, place: Place) => void;
  onLayOut?: () => void;
}) {
  const canvas = useRef<CanvasHandle>(null);
  const [sought, setSought] = useState('');
  const { drawing = unplaced } = settled ?? {};
  const filter = JSON.stringify(filterToQuery(state.filter));
  const shown = useMemo(() => filtered(drawing, state.filter), [drawing, filter]);
  const { hueOf, servers } = useMemo(() => huesOf(drawing.nodes), [drawing]);
  const regions = useMemo(() => regionsOf(shown, state.background, hueOf), [shown, state.background, hueOf]);
  const { nodes } = shown;
  const isOrdered = state.mode === 'invocation';
  const tabs = (['nodes', 'details', 'path'] as const).filter((name) => name === 'nodes' || name in panels);
  const panel = tabs.includes(state.panel) ? state.panel : 'nodes';
  const seek = (text: string) => {
    setSought(text);
    if (panel !== 'nodes') setQuery({ panel: 'nodes' });
  };
  return (
    <>
      <PageHead
        title="Graph"
        lead={lead}
        actions={
          <Toolbar
            state={state}
            trace={trace}
            canvas={() => canvas.current}
            sought={sought}
            onSeek={seek}
            onPickFirst={() => choose(findNodes(nodes, sought, isOrdered)[0]?.id ?? null)}
            onLayOut={onLayOut}
          />
        }
      />
      <Legend drawing={drawing} filter={state.filter} mode={state.mode} servers={servers} />
      <div class="graph-stage">
        <div class="graph-view">
          {settled ? (
            <>
              <GraphCanvas
                handle={canvas}
                drawing={shown}
                places={settled.places}
                regions={regions}
                hueOf={hueOf}
                chosen={state.node}
                path={path}
                scene={settled.scene}
                onChoose={choose}
                onMove={onMove}
              />
              <div class="graph-zoom">
                <Button aria-label="Zoom in" onClick={() => canvas.current?.zoomBy(1.3)}>
                  +
                </Button>
                <Button aria-label="Zoom out" onClick={() => canvas.current?.zoomBy(1 / 1.3)}>
                  −
                </Button>
                <Button aria-label="Fit to view" onClick={() => canvas.current?.fit()}>
                  ⤢
                </Button>
              </div>
            </>
          ) : (
            <Skeleton lines={8} />
          )}
        </div>
        <aside class="graph-panel" aria-label="About the graph">
          <Tabs
            label="About the graph"
            tabs={tabs.map((name) => ({ name, title: TITLES[name] }))}
            current={panel}
            onChange={(name) => setQuery({ panel: name })}
          >
            {panel === 'nodes' ? (
              <NodeList
                nodes={nodes}
                sought={sought}
                chosen={state.node}
                hueOf={hueOf}
                isOrdered={isOrdered}
                view={`${settled?.scene} ${filter}`}
              />
            ) : (
              panels[panel]
            )}
          </Tabs>
        </aside>
      </div>
    </>
  );
}

const MODES: readonly (readonly [Mode, string, string])[] = [
  ['definition', 'Definition', 'Tools, capabilities and how they depend on each other'],
  ['invocation', 'Invocation', 'The calls of one run'],
];

const CALLS: readonly (readonly ['each' | 'together', string, string])[] = [
  ['each', 'Each call', 'Every call is a node'],
  ['together', 'By tool', 'All calls of a tool are one node, with their number and total time'],
];

/** Buttons of which one is pressed. */
function Choice<Name extends string>({
  label,
  current,
  choices,
  onChoose,
}: {
  label: string;
  current: Name;
  choices: readonly (readonly [Name, string, string])[];
  onChoose: (name: Name) => void;
}) {
  return (
    <fieldset class="graph-modes">
      <legend class="hidden">{label}</legend>
      {choices.map(([name, title, note]) => (
        <button
          key={name}
          type="button"
          title={note}
          aria-pressed={current === name}
          onClick={() => current !== name && onChoose(name)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  );
}

function Toolbar({
  state,
  trace,
  canvas,
  sought,
  onSeek,
  onPickFirst,
  onLayOut,
}: {
  state: GraphState;
  trace: Trace | undefined;
  canvas: () => CanvasHandle | null;
  sought: string;
  onSeek: (text: string) => void;
  onPickFirst: () => void;
  onLayOut: () => void;
}) {
  const isRun = state.mode === 'invocation';
  const asPicture = { title: 'Picture (PNG)', onSelect: () => save(canvas()) };
  return (
    <div class="graph-tools">
      <input
        type="search"
        data-search
        aria-label="Find a node"
        placeholder="Find a node…"
        value={sought}
        onInput={(event) => onSeek(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onPickFirst();
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          document.querySelector<HTMLElement>('.graph-list a')?.focus();
        }}
      />
      <Choice label="Mode" current={state.mode} choices={MODES} onChoose={(mode) => setMode(mode)} />
      {isRun && (
        <Choice
          label="Calls"
          current={state.isTogether ? 'together' : 'each'}
          choices={CALLS}
          onChoose={(calls) => setTogether(calls === 'together')}
        />
      )}
      {!isRun && (
        <select
          aria-label="Background"
          value={state.background}
          onChange={({ currentTarget: { value } }) =>
            setQuery({ clusters: value === 'none' ? undefined : value })
          }
        >
          {Object.entries(BACKGROUNDS).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
      {!isRun && <Button kind="quiet" icon="refresh" aria-label="Lay out again" onClick={onLayOut} />}
      <Menu
        label="Export"
        icon="download"
        items={
          isRun
            ? [asPicture, { title: 'This run (JSON)', onSelect: () => trace && saveRun(trace) }]
            : [
                asPicture,
                ...(['json', 'graphml', 'dot'] as const).map((format) => ({
                  title: `Whole graph (${format === 'json' ? 'JSON' : format === 'dot' ? 'DOT' : 'GraphML'})`,
                  onSelect: () =>
                    void tellingOutcome(
                      saveFrom(`/api/graph?format=${format}`, `graph.${format}`),
                      `Saved graph.${format}`,
                    ),
                })),
              ]
        }
      />
    </div>
  );
}

function save(canvas: CanvasHandle | null): void {
  if (canvas)
    void tellingOutcome(
      canvas.picture().then((made) => saveFile(made, 'graph.png')),
      'Saved graph.png',
    );
}

function saveRun(trace: Trace): void {
  const blob = new Blob([JSON.stringify(trace, null, 2)], { type: 'application/json' });
  saveFile(blob, `run-${trace.id}.json`);
}
