import type { Capability } from '../../../shared/api-types.ts';
import { href } from '../../../shared/routes.ts';
import { ApiError, getJson } from '../../api.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Code, SchemaTable } from '../../components/code.tsx';
import { Outline } from '../../components/outline.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, EmptyState, ErrorState } from '../../components/states.tsx';
import { shownLine, shownText } from '../../format.ts';
import { type Resource, useResource } from '../../resource.ts';
import { CapabilityActions } from './capability-actions.tsx';
import { CapabilityFigures, CapabilityOrigin } from './capability-figures.tsx';
import { RunCapability } from './capability-runs.tsx';

/** One capability with all its details. */
export function CapabilityView({ slug }: { slug: string }) {
  const capability = useResource<Capability>(`capability ${slug}`, {
    load: (signal) => getJson(`/capabilities/${encodeURIComponent(slug)}`, {}, signal),
    reloadOn: (event) => event.type === 'capability_changed',
  });
  const { data, error } = capability.state.value;
  if (error?.code === 'not_found') return <Gone slug={slug} error={error} />;
  return (
    <>
      <p class="capability-crumb">
        <a href={href.capabilities()}>Capabilities</a>
      </p>
      <PageHead
        title={shownLine(data?.slug ?? slug, 80)}
        lead={data && shownLine(data.description, 300)}
        actions={data && <CapabilityActions of={data} onChange={capability.set} />}
      />
      <Await of={capability.state.value} retry={capability.reload} lines={10}>
        {(known) => <Known of={known} reload={capability.reload} />}
      </Await>
    </>
  );
}

function Known({ of: known, reload }: { of: Capability; reload: Resource<Capability>['reload'] }) {
  return (
    <div class="stack">
      {known.state === 'quarantined' && (
        <div class="capability-warning" role="note">
          <StatusBadge status="quarantined" />
          <span>
            This capability cannot be called or suggested:{' '}
            {shownText(known.quarantined_because ?? 'no reason given')}. Review it, then release it.
          </span>
        </div>
      )}
      <div class="columns">
        <div class="stack">
          <Panel title="Run it">
            <RunCapability of={known} onRun={reload} />
          </Panel>
          <Panel title="Code">
            <div class="capability-code">
              <Code text={known.signature} label="Signature" />
              <Code text={known.code} label="Source code" numbers />
              <Outline id={known.slug} code={known.code} />
            </div>
          </Panel>
          <CapabilityOrigin of={known} />
        </div>
        <div class="stack">
          <Panel title="Performance">
            <CapabilityFigures of={known} />
          </Panel>
          <Panel title="Parameters">
            <SchemaTable schema={known.parameters} nothing="It takes no arguments." />
          </Panel>
          <Panel title="Result">
            <SchemaTable schema={known.output} nothing="No output has been observed yet." />
          </Panel>
        </div>
      </div>
    </div>
  );
}

function Gone({ slug, error }: { slug: string; error: ApiError }) {
  return (
    <>
      <PageHead title={shownLine(slug, 80)} />
      <ErrorState error={new ApiError(404, error.code, error.message)} />
      <EmptyState icon="capabilities" title="It may have been renamed or deleted">
        <a href={href.capabilities()}>All capabilities</a>
      </EmptyState>
    </>
  );
}
