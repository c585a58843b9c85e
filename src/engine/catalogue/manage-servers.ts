import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Gateway } from '../gateway.ts';
import type { Settings, UpstreamTool } from '../ports.ts';
import { acceptServer, changesOfServer } from './accept-server.ts';
import { isOffered } from './catalogue.ts';
import { serverReports } from './inventory.ts';
import type { LiveCatalogue } from './live-catalogue.ts';
import { acceptedIdentity, asListed, defineTool } from './refresh-catalogue.ts';

export type ServerService = Pick<
  Gateway,
  | 'servers'
  | 'request'
  | 'notify'
  | 'identity'
  | 'rawTools'
  | 'onUpstream'
  | 'forgetClient'
  | 'changesOfServer'
  | 'acceptServer'
  | 'restart'
  | 'logs'
  | 'login'
  | 'keepCredentials'
>;

/** What clients and people do with upstream servers besides calling their tools. */
export function manageServers(
  ports: FlowPorts,
  catalogue: LiveCatalogue,
  settings: () => Settings,
): ServerService {
  const { store, upstream } = ports;

  /** As a person has accepted it: a model reads what it is shown here. A tool that is new is accepted as it is. */
  const asAccepted = (server: string, tool: UpstreamTool): UpstreamTool => {
    const now = defineTool(server, tool, ports.crypto);
    const accepted = catalogue.current().get(now.id)?.tool;
    return accepted && accepted.definitionHash !== now.definitionHash ? asListed(accepted) : tool;
  };
  const known = (server: string) => configured(settings(), server);

  return {
    servers: async () => serverReports(upstream.servers(), catalogue.current()),
    request: (server, method, params, caller, meta, passInputRequired) =>
      upstream.request(server, method, params, {
        ...(caller.signal && { signal: caller.signal }),
        ...(caller.onProgress && { onProgress: caller.onProgress }),
        ...(caller.client && { client: caller.client }),
        ...(caller.who && { user: caller.who.user }),
        ...(meta && { meta }),
        ...(passInputRequired && { passInputRequired }),
      }),
    notify: (server, method, params, user) => upstream.notify(server, method, params, user),
    async identity(server, { signal }) {
      const started = await upstream.start(server, signal && { signal });
      const record = (await store.servers.list()).find(({ name }) => name === server);
      if (!started.ok || !record) return started;
      return { ok: true, value: acceptedIdentity(started.value, record.identity) };
    },
    async rawTools(server, { signal }) {
      const listed = await upstream.catalogue(server, signal && { signal });
      if (!listed.ok) return listed;
      const rules = settings().servers.find(({ name }) => name === server);
      const offered = listed.value.filter((tool) => isOffered(tool, rules));
      return { ok: true, value: offered.map((tool) => asAccepted(server, tool)) };
    },
    onUpstream: (listener) => upstream.subscribe(listener),
    forgetClient: (clientId) => upstream.forgetClient(clientId),
    changesOfServer: (server) => changesOfServer({ ports, catalogue }, known(server)),
    acceptServer: (server, by, hash) => acceptServer({ ports, catalogue }, known(server), by, hash),
    restart: (server) => upstream.restart(known(server)),
    logs: (server) => upstream.logs(known(server)).map((line) => String(ports.redact(line))),
    login: (server, redirectUrl, user) => upstream.login(known(server), redirectUrl, user),
    keepCredentials: (server, user, credentials) => upstream.keep(known(server), user, credentials),
  };
}

function configured(settings: Settings, server: string): string {
  if (settings.servers.some(({ name }) => name === server)) return server;
  const names = settings.servers.map(({ name }) => name).join(', ');
  throw new PmlError('not_found', `Server ${server} not found`, {
    hint: names === '' ? 'None are configured.' : `There are: ${names}.`,
  });
}
