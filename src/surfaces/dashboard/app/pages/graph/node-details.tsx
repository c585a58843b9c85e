import type { GraphEdge, GraphNode, GraphNodeDetails } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { getJson } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/code.tsx';
import { LongText } from '../../components/json-view.tsx';
import { Await } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { number, percent, plural, shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { setQuery } from '../../router.ts';
import { EdgeSwatch, NodeGlyph } from './legend.tsx';
import { hrefOf, withBackground } from './node-list.tsx';

const RELATIONS = {
  often_before: 'often before',
  often_after: 'often after',
  used_together: 'used together',
};

/** All details of one node. */
export function NodeDetails({ id, nodes }: { id: string; nodes: readonly GraphNode[] }) {
  const details = useResource<GraphNodeDetails>(`node ${id}`, {
    load: (signal) => getJson('/node', { id }, signal),
    reloadOn: ({ type }) => type === 'graph_changed' || type === 'capability_changed',
  });
  const labels = new Map(nodes.map((node) => [node.id, node]));
  return (
    <Await of={details.state.value} retry={details.reload}>
      {(node) => <Details key={node.id} node={node} labels={labels} />}
    </Await>
  );
}

function Details({ node, labels }: { node: GraphNodeDetails; labels: ReadonlyMap<string, GraphNode> }) {
  const { runs, calls, failures, repeats, last_seen_at } = node.statistics;
  const edges = node.edges.toSorted((a, b) => b.weight - a.weight);
  return (
    <div class="graph-details">
      <header>
        <h2>
          <NodeGlyph kind={node.kind} />
          {shownLine(node.label, 120)}
        </h2>
        <p class="muted mono">{node.kind === 'capability' ? 'capability' : shownLine(node.id, 160)}</p>
      </header>
      {node.description && (
        <p class="graph-description">
          <LongText text={node.description} />
        </p>
      )}
      <div class="row">
        <Button onClick={() => setQuery({ from: node.id, panel: 'path' })}>Path from here</Button>
        <Button onClick={() => setQuery({ to: node.id, panel: 'path' })}>Path to here</Button>
        {node.kind === 'capability' && (
          <a class="button button-plain" href={href.capability(node.label)}>
            Open
          </a>
        )}
      </div>
      <dl class="graph-figures">
        <Figure title="Runs" value={number(runs)} />
        <Figure title="Calls" value={number(calls)} />
        <Figure title="Success" value={calls === 0 ? '–' : percent(1 - failures / calls)} />
        <Figure title="Repeats" value={number(repeats)} />
      </dl>
      {last_seen_at && (
        <p class="faint">
          Last seen <Time at={last_seen_at} />
        </p>
      )}
      <Standing of={labels.get(node.id)} among={[...labels.values()]} />
      {node.capability_rank !== null && (
        <p class="faint">
          Importance to capabilities: {percent(node.capability_rank)} (PageRank over capabilities and their
          tools).
        </p>
      )}
      <TraceStatistics values={node.trace_statistics} />
      <Edges
        title="Leads to"
        edges={edges.filter(({ source }) => source === node.id)}
        end="target"
        labels={labels}
      />
      <Edges
        title="Comes from"
        edges={edges.filter(({ target }) => target === node.id)}
        end="source"
        labels={labels}
      />
      {node.related.length > 0 && (
        <section>
          <h3>Related</h3>
          <ul class="graph-related">
            {node.related.map(({ id, relation, score }) => (
              <li key={id}>
                <a href={hrefOf(id)}>{nameOf(id, labels)}</a>
                <span class="faint">{RELATIONS[relation]}</span>
                <span class="number">{score.toFixed(2)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Schema title="Takes" schema={node.input_schema} />
      <Schema title="Gives" schema={node.output_schema} />
    </div>
  );
}

/** Its place in the whole graph, and the groups it is in, which lead to the drawing of them. */
function Standing({ of: node, among }: { of: GraphNode | undefined; among: readonly GraphNode[] }) {
  if (!node) return null;
  const place = 1 + among.filter(({ pagerank }) => pagerank > node.pagerank).length;
  const inCommunity = among.filter(({ community }) => community === node.community).length;
  const inCluster =
    node.cluster === null ? 0 : among.filter(({ cluster }) => cluster === node.cluster).length;
  return (
    <p class="faint">
      Importance in the graph: {percent(node.pagerank)}, place {number(place)} of {number(among.length)}{' '}
      (PageRank). In <a href={withBackground('louvain')}>community {number(node.community + 1)}</a> of{' '}
      {plural(inCommunity, 'node')}
      {node.cluster !== null && (
        <>
          {' '}
          and <a href={withBackground('spectral')}>cluster {number(node.cluster + 1)}</a> of{' '}
          {number(inCluster)}, by what capabilities use
        </>
      )}
      .
    </p>
  );
}

export function Figure({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}

function Edges({
  title,
  edges,
  end,
  labels,
}: {
  title: string;
  edges: readonly GraphEdge[];
  end: 'source' | 'target';
  labels: ReadonlyMap<string, GraphNode>;
}) {
  if (edges.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="graph-edges">
        {edges.map((edge) => (
          <li key={`${edge[end]} ${edge.edge_type}`}>
            <EdgeSwatch type={edge.edge_type} source={edge.edge_source} />
            <a href={hrefOf(edge[end])}>{nameOf(edge[end], labels)}</a>
            <span class="faint">{factsOf(edge)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Type, source and counts: what colour, line and width show. */
function factsOf({ edge_type, edge_source, observed_count, invocation_count, weight }: GraphEdge): string {
  const seen =
    observed_count === 0
      ? 'not seen yet'
      : `${number(observed_count)} run${observed_count === 1 ? '' : 's'}, ${number(invocation_count)} call${invocation_count === 1 ? '' : 's'}`;
  return `${edge_type}, ${edge_source} · ${seen} · ${weight.toFixed(2)}`;
}

/** A capability's name; otherwise the id, which includes the server. */
export function nameOf(id: string, labels: ReadonlyMap<string, GraphNode>): string {
  const node = labels.get(id);
  return shownLine(node?.kind === 'capability' ? node.label : id, 100);
}

function Schema({ title, schema }: { title: string; schema: unknown }) {
  if (schema === null || schema === undefined) return null;
  return (
    <section>
      <h3>{title}</h3>
      <Code text={JSON.stringify(schema, null, 2)} language="json" label={`${title}: JSON Schema`} />
    </section>
  );
}

/** The meaning of each statistic, in display order. */
const IN_WORDS: Readonly<Record<string, string>> = {
  historical_success_rate: 'Success rate in runs that use it',
  contextual_success_rate: 'Success rate after the tools used just before',
  intent_similar_success_rate: 'Success rate in runs with a similar intent',
  cooccurrence_with_context: 'Used together with the tools used just before',
  sequence_position: 'Position in a run: 0 is first, 1 is last',
  recency_score: 'Recency: 1 is now, 0.37 a day ago',
  usage_frequency: 'Share of runs, relative to the most used node',
  avg_execution_time: 'Duration of a call: 1 is a minute or more',
  error_recovery_rate: 'Success rate after a failure',
  avg_path_length_to_success: 'Steps until a run succeeds: 0.25 is one, 0.5 is three',
  path_variance: 'Variation of these steps',
  'error_type_affinity.TIMEOUT': 'Success rate after a timeout',
  'error_type_affinity.PERMISSION': 'Success rate after a missing permission',
  'error_type_affinity.NOT_FOUND': 'Success rate after something was not found',
  'error_type_affinity.VALIDATION': 'Success rate after invalid arguments',
  'error_type_affinity.NETWORK': 'Success rate after a network failure',
  'error_type_affinity.UNKNOWN': 'Success rate after any other failure',
};

/** Statistics of a node from past runs, which predict its success. */
function TraceStatistics({ values }: { values: GraphNodeDetails['trace_statistics'] }) {
  if (values === null) return <p class="faint">Too few runs to predict its success.</p>;
  return (
    <details class="graph-statistics">
      <summary>What predicts its success</summary>
      <table class="table" aria-label="What predicts its success">
        <tbody>
          {Object.entries(values).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{IN_WORDS[name] ?? shownLine(name, 60)}</th>
              <td class="number">{value.toFixed(2)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
