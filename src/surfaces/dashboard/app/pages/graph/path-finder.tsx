import { useId } from 'preact/hooks';
import type { GraphNode, GraphPath } from '../../../shared/api-types.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { shownText } from '../../format.ts';
import type { Resource } from '../../resource.ts';
import { setQuery } from '../../router.ts';
import type { Filter } from './filter.ts';
import { setFilter } from './graph-state.ts';
import { EdgeSwatch } from './legend.tsx';
import { nameOf } from './node-details.tsx';
import { hrefOf } from './node-list.tsx';
/** Finds a path between two nodes and shows its evidence. */
export function PathFinder({
  from,
  to,
  nodes,
  path,
  filter,
}: {
  from: string | null;
  to: string | null;
  nodes: readonly GraphNode[];
  path: Resource<GraphPath | null>;
  filter: Filter;
}) {
  const id = useId();
  const labels = new Map(nodes.map((node) => [node.id, node]));
  const written = (node: string | null) => (node === null ? '' : (capabilityName(node, labels) ?? node));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    setQuery({ from: given('from'), to: given('to'), panel: 'path' }, { replace: false });
  };
  return (
    <div class="graph-details">
      <form class="graph-path-form" onSubmit={submit}>
        <NodeField title="From" name="from" list={id} written={written(from)} />
        <NodeField title="To" name="to" list={id} written={written(to)} />
        <datalist id={id}>
          {nodes.map((node) => (
            <option key={node.id} value={node.kind === 'capability' ? node.label : node.id} />
          ))}
        </datalist>
        <div class="row">
          <Button kind="primary" type="submit">
            Find path
          </Button>
          <Button
            disabled={!from && !to}
            onClick={() => setQuery({ from: to ?? undefined, to: from ?? undefined }, { replace: false })}
          >
            Swap
          </Button>
          <Button
            kind="quiet"
            disabled={!from && !to}
            onClick={() => setQuery({ from: undefined, to: undefined, panel: 'path' })}
          >
            Clear
          </Button>
        </div>
      </form>
      {from && to ? (
        <Answer path={path} labels={labels} filter={filter} />
      ) : (
        <p class="muted">
          The cheapest path over dependencies, data flow and order; edges seen more often cost less.
        </p>
      )}
    </div>
  );
}

/** Re-created when the address names another node, so that typing is not interrupted. */
function NodeField(of: { title: string; name: string; list: string; written: string }) {
  return (
    <label>
      <span>{of.title}</span>
      <input
        type="text"
        name={of.name}
        list={of.list}
        key={of.written}
        defaultValue={of.written}
        autocomplete="off"
      />
    </label>
  );
}

function Answer({
  path,
  labels,
  filter,
}: {
  path: Resource<GraphPath | null>;
  labels: ReadonlyMap<string, GraphNode>;
  filter: Filter;
}) {
  const { data, error, isLoading } = path.state.value;
  if (error) return <ErrorState error={error} />;
  if (!data) return isLoading ? <Skeleton lines={3} /> : null;
  if (data.cost === null) return <p role="status">{shownText(data.explanation)}</p>;
  const isThroughOperations =
    !filter.kinds.has('operation') && data.nodes.some((node) => labels.get(node)?.kind === 'operation');
  return (
    <section class="graph-path" aria-label="Path">
      <p class="muted" role="status">
        {data.steps.length === 0
          ? 'This is the start node.'
          : `${data.steps.length} ${data.steps.length === 1 ? 'step' : 'steps'}, cost ${data.cost.toFixed(2)}`}
      </p>
      <ol>
        {data.steps.map((step) => (
          <li key={`${step.source} ${step.target}`}>
            <a href={hrefOf(step.source)}>{nameOf(step.source, labels)}</a>
            <p>
              <EdgeSwatch type={step.edge_type} source={step.edge_source} />
              <span>{shownText(step.explanation)}</span>
            </p>
          </li>
        ))}
        {data.nodes.length > 0 && (
          <li>
            <a href={hrefOf(data.nodes.at(-1)!)}>{nameOf(data.nodes.at(-1)!, labels)}</a>
          </li>
        )}
      </ol>
      {isThroughOperations && (
        <Button onClick={() => setFilter({ ...filter, kinds: new Set([...filter.kinds, 'operation']) })}>
          Show operations on this path
        </Button>
      )}
    </section>
  );
}

function capabilityName(id: string, labels: ReadonlyMap<string, GraphNode>): string | undefined {
  const node = labels.get(id);
  return node?.kind === 'capability' ? node.label : undefined;
}
