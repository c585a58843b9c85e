import { useState } from 'preact/hooks';
import { ApiError, ask } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { PageHead, Panel } from '../../components/page-layout.tsx';
import { Await, ErrorState } from '../../components/states.tsx';
import { shownLine } from '../../format.ts';
import { useResource } from '../../resource.ts';
import { location } from '../../router.ts';
import '../../components/schema-table.css';

/** What a client asks for. */
interface Asked {
  readonly client_id: string;
  readonly client_name: string;
  readonly redirect_host: string;
  readonly is_local: boolean;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** With whose rights it may act; the first is the person who is logged in. */
  readonly actors: readonly {
    readonly name: string;
    readonly key_id: string | null;
    readonly user: string;
  }[];
}

const MEANING: Readonly<Record<string, string>> = {
  'pml:run':
    'Search and run tools, code and workflows, as your permissions allow. It can approve nothing and change no settings.',
  offline_access: 'Stay connected until you disconnect it.',
};

/** Asks the person whether an OAuth client may use the gateway for them. */
export default function ConsentPage() {
  const address = `${location.value.path}/decision`;
  const asked = useResource<Asked>(address, { load: (signal) => ask(address, { signal }) });
  return (
    <>
      <PageHead title="Connect a client" lead="A program wants to use this gateway on your behalf." />
      <Await of={asked.state.value} retry={asked.reload}>
        {(data) => <Request asked={data} address={address} />}
      </Await>
    </>
  );
}

function Request({ asked, address }: { asked: Asked; address: string }) {
  const [keyId, setKeyId] = useState(asked.actors[0]?.key_id ?? null);
  const [isSent, setSent] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const decide = async (allow: boolean) => {
    setSent(true);
    try {
      const body = JSON.stringify({ allow, key_id: keyId });
      const headers = { 'content-type': 'application/json' };
      const { location: next } = await ask<{ location: string }>(address, { method: 'POST', headers, body });
      window.location.assign(next);
    } catch (thrown) {
      setProblem(ApiError.from(thrown));
      setSent(false);
    }
  };
  return (
    <Panel title={`${shownLine(asked.client_name, 80)} wants to connect`}>
      <div class="stack">
        <dl class="facts">
          <dt>It calls itself</dt>
          <dd>{shownLine(asked.client_name, 80)}</dd>
          <dt>The answer goes to</dt>
          <dd>
            <strong>{shownLine(asked.redirect_host, 120)}</strong>
            {asked.is_local && ', a program on your own computer'}
          </dd>
          {asked.client_id.startsWith('https://') && (
            <>
              <dt>Published at</dt>
              <dd>{shownLine(asked.client_id, 200)}</dd>
            </>
          )}
          <dt>It wants to use</dt>
          <dd>{endpointOf(asked.resource)}</dd>
          <dt>It may then</dt>
          <dd>
            <ul>
              {asked.scopes.map((scope) => (
                <li key={scope}>
                  <code>{shownLine(scope, 60)}</code> {MEANING[scope]}
                </li>
              ))}
            </ul>
          </dd>
          <dt>
            <label for="actor">It acts as</label>
          </dt>
          <dd>
            <select
              id="actor"
              value={keyId ?? ''}
              onInput={(event) => setKeyId(event.currentTarget.value || null)}
            >
              {asked.actors.map(({ name, key_id, user }) => (
                <option key={key_id} value={key_id ?? ''}>
                  {key_id === null ? `${shownLine(user, 60)} (you)` : `key ${shownLine(name, 60)}`}
                </option>
              ))}
            </select>
          </dd>
        </dl>
        <p class="muted">
          Allow this only if you started it yourself, in a program that you know, at this address.
        </p>
        {problem && <ErrorState error={problem} />}
        <div class="row">
          <Button kind="primary" needs="run" disabled={isSent} onClick={() => void decide(true)}>
            Allow
          </Button>
          <Button disabled={isSent} onClick={() => void decide(false)}>
            Refuse
          </Button>
        </div>
      </div>
    </Panel>
  );
}

function endpointOf(resource: string): string {
  const path = new URL(resource).pathname;
  const [, , , server] = path.split('/');
  return server === undefined
    ? `all servers (${path})`
    : `only the server ${shownLine(server, 80)} (${path})`;
}
