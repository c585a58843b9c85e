import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Trace } from '../../../shared/api-types.ts';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page-layout.tsx';
import { Skeleton } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { setQuery } from '../../router.ts';
import { filtered, filterToQuery } from './filter.ts';
import { type CanvasHandle, GraphCanvas } from './graph-canvas.tsx';
import { choose, type GraphState, type PanelName } from './graph-state.ts';
import { huesOf } from './graph-style.ts';
import { Legend } from './legend.tsx';
import { findNodes, NodeList } from './node-list.tsx';
import { regionsOf } from './paint-background.ts';
import { Toolbar } from './toolbar.tsx';
import type { Place, Settled } from './use-layout.ts';
import type { MarkedPath } from './viewport.ts';

const TITLES: Readonly<Record<PanelName, string>> = { nodes: 'Nodes', details: 'Details', path: 'Path' };

/** The drawing with what stands around it, the same in both modes. */
export function Stage({
  state,
  settled,
  path = null,
  lead,
  trace,
  panels,
  onMove = () => {},
  onLayOut = () => {},
}: {
  state: GraphState;
  /** Null while the first layout is under way. */
  settled: Settled | null;
  path?: MarkedPath | null;
  lead: ComponentChildren;
  trace?: Trace;
  /** What stands behind the tabs besides the list of nodes. */
  panels: Partial<Record<PanelName, ComponentChildren>>;
  onMove?: (id: string, place: Place) => void;
  onLayOut?: () => void;
}) {
  const canvas = useRef<CanvasHandle>(null);
  const [sought, setSought] = useState('');
  const { drawing } = settled ?? {};
  const filter = JSON.stringify(filterToQuery(state.filter));
  const shown = useMemo(() => drawing && filtered(drawing, state.filter), [drawing, filter]);
  const { hueOf, servers } = useMemo(() => huesOf(drawing?.nodes ?? []), [drawing]);
  const regions = useMemo(
    () => (shown ? regionsOf(shown, state.background, hueOf) : []),
    [shown, state.background, hueOf],
  );
  const nodes = shown?.nodes ?? [];
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
      {settled && (
        <Legend drawing={settled.drawing} filter={state.filter} mode={state.mode} servers={servers} />
      )}
      <div class="graph-stage">
        <div class="graph-view">
          {shown && settled ? (
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
