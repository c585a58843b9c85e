import type { Graph } from '../../../shared/api-types.ts';
import { getJson } from '../../api.ts';
import { PageHead } from '../../components/page-layout.tsx';
import { Await, EmptyState } from '../../components/states.tsx';
import { useResource } from '../../resource.ts';
import { DefinitionView } from './definition-view.tsx';
import './graph.css';
import { graphState } from './graph-state.ts';
import { RunView } from './run-view.tsx';

/** What leads to what: as it is known, or as one run did it. */
export default function GraphPage() {
  const state = graphState();
  const graph = useResource<Graph>('graph', {
    load: (signal) => getJson('/graph', {}, signal),
    reloadOn: ({ type }) =>
      type === 'graph_changed' || type === 'capability_changed' || type === 'catalogue_changed',
  });
  return (
    <div class="page-wide graph-page">
      <Await of={graph.state.value} retry={graph.reload} lines={8}>
        {(data) =>
          data.nodes.length === 0 ? (
            <>
              <PageHead title="Graph" />
              <EmptyState icon="graph" title="Nothing to draw yet">
                <p>Tools appear here once a server is attached, and edges once programs have run.</p>
              </EmptyState>
            </>
          ) : state.mode === 'invocation' ? (
            <RunView state={state} graph={data} />
          ) : (
            <DefinitionView state={state} graph={data} />
          )
        }
      </Await>
    </div>
  );
}
