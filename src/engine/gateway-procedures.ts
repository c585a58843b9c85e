import type { Gateway } from './gateway.ts';
import type { Bridge, RemoteProcedures, UpstreamFailure, UpstreamLogin, UpstreamReply } from './ports.ts';
import { findRun, type RunInQuestion, recentRuns, waitingRuns } from './runs-in-question.ts';

/** Where to send the browser; `done` when nobody has to be sent. */
export type LoginStep = { readonly done: true } | { readonly done: false; readonly authorizationUrl: string };

/** What a command asks of the gateway, which may run in another process: data in, data out. */
export interface GatewayClient
  extends Pick<Gateway, 'servers' | 'stats' | 'searchTools' | 'settleApproval' | 'restart'> {
  waitingRuns(): Promise<RunInQuestion[]>;
  recentRuns(limit: number): Promise<RunInQuestion[]>;
  findRun(runId: string): Promise<RunInQuestion | null>;
  logs(server: string): Promise<readonly string[]>;
  loginStart(server: string, redirectUrl: string): Promise<UpstreamReply<LoginStep>>;
  /** With the full URL the browser came back to. */
  loginFinish(server: string, callbackUrl: string): Promise<UpstreamReply<null>>;
}

/** Every method that another process may call; the type refuses a list that is not complete. */
const GATEWAY_METHODS: { readonly [M in keyof GatewayClient]: true } = {
  servers: true,
  stats: true,
  searchTools: true,
  waitingRuns: true,
  recentRuns: true,
  findRun: true,
  settleApproval: true,
  restart: true,
  logs: true,
  loginStart: true,
  loginFinish: true,
};

/** The room in which a holder offers its gateway. */
const ROOM = 'gateway';

/** What a holder offers of its gateway. */
export function gatewayProcedures(gateway: Gateway): RemoteProcedures {
  return { [ROOM]: { ...gatewayClient(gateway) } };
}

/** The gateway behind a bridge, in this process or another. */
export function remoteGateway(bridge: Bridge): GatewayClient {
  const methods = Object.keys(GATEWAY_METHODS).map((method) => [
    method,
    (...args: unknown[]) => bridge.call(ROOM, method, args),
  ]);
  return Object.fromEntries(methods) as GatewayClient;
}

function gatewayClient(gateway: Gateway): GatewayClient {
  // One login at a time per server: a new one makes the old link worthless anyway.
  const logins = new Map<string, Extract<UpstreamLogin, { done: false }>>();
  return {
    servers: () => gateway.servers(),
    stats: () => gateway.stats(),
    searchTools: (query) => gateway.searchTools(query),
    waitingRuns: () => waitingRuns(gateway.store),
    recentRuns: (limit) => recentRuns(gateway.store, limit),
    findRun: (runId) => findRun(gateway.store, runId),
    settleApproval: (...decision) => gateway.settleApproval(...decision),
    restart: (server) => gateway.restart(server),
    logs: async (server) => gateway.logs(server),

    async loginStart(server, redirectUrl) {
      const reply = await gateway.login(server, redirectUrl);
      if (!reply.ok) return reply;
      if (reply.value.done) return { ok: true, value: { done: true } };
      logins.set(server, reply.value);
      return { ok: true, value: { done: false, authorizationUrl: reply.value.authorizationUrl } };
    },

    async loginFinish(server, callbackUrl) {
      const login = logins.get(server);
      if (!login) return { ok: false, error: noLogin(server) };
      logins.delete(server);
      return await login.finish(callbackUrl);
    },
  };
}

function noLogin(server: string): UpstreamFailure {
  return {
    code: 'not_found',
    errorType: 'NOT_FOUND',
    message: `No login to server "${server}" is under way`,
    hint: `Start one with "pml servers login ${server}".`,
  };
}
