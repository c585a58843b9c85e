import type { Gateway } from './gateway.ts';
import type { Settings, UpstreamEvent } from './ports.ts';
import { callProcedure, storeOver, storeProcedures } from './remote-procedures.ts';
import type { EventLog } from './traces/event-log.ts';

export interface OpeningOptions {
  readonly settings: Settings;
  readonly events: EventLog;
  /** The inventory line of the last time, shown until the catalogue has been read. */
  readonly inventory: string;
  readonly opening: Promise<Gateway>;
}

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/**
 * A gateway whose store is still being opened: what it can say at once it says at once (who it is,
 * what it offers), everything else waits. A client's first `tools/list` never waits for a database.
 */
export function openingGateway({ settings, events, inventory, opening }: OpeningOptions): Gateway {
  let opened: Gateway | null = null;
  void opening.then(
    (gateway) => {
      opened = gateway;
    },
    // Told to whoever asks for something.
    () => {},
  );
  const later = <K extends keyof Gateway>(method: K) =>
    (async (...args: never[]) => {
      const gateway = await opening;
      return await (gateway[method] as AsyncMethod)(...args);
    }) as Gateway[K];

  return {
    events,
    settings: () => opened?.settings() ?? settings,
    inventory: () => opened?.inventory() ?? inventory,
    logs: (server) => opened?.logs(server) ?? [],
    store: storeOver({
      async call(room, method, args) {
        const gateway = await opening;
        return await callProcedure(storeProcedures(gateway.store), room, method, args);
      },
      close: async () => (await opening).store.close(),
    }),
    onUpstream(listener: (event: UpstreamEvent) => void) {
      let stop: () => void = () => {};
      let isStopped = false;
      void opening.then(
        (gateway) => {
          if (!isStopped) stop = gateway.onUpstream(listener);
        },
        () => {},
      );
      return () => {
        isStopped = true;
        stop();
      };
    },
    servers: later('servers'),
    stats: later('stats'),
    searchTools: later('searchTools'),
    searchCapabilities: later('searchCapabilities'),
    suggest: later('suggest'),
    rejectSuggestion: later('rejectSuggestion'),
    predictNext: later('predictNext'),
    executeTool: later('executeTool'),
    executeCode: later('executeCode'),
    executeCapability: later('executeCapability'),
    capabilities: {
      list: async (caller) => (await opening).capabilities.list(caller),
      show: async (slug, caller) => (await opening).capabilities.show(slug, caller),
      share: async (slug, caller) => (await opening).capabilities.share(slug, caller),
      keepPrivate: async (slug, user, caller) => (await opening).capabilities.keepPrivate(slug, user, caller),
      rename: async (slug, to) => (await opening).capabilities.rename(slug, to),
      quarantine: async (slug, reason) => (await opening).capabilities.quarantine(slug, reason),
      forget: async (slug) => (await opening).capabilities.forget(slug),
      export: async (slug, caller) => (await opening).capabilities.export(slug, caller),
      import: async (files) => (await opening).capabilities.import(files),
    },
    graph: {
      view: async () => (await opening).graph.view(),
      node: async (name) => (await opening).graph.node(name),
      path: async (from, to) => (await opening).graph.path(from, to),
      stats: async () => (await opening).graph.stats(),
      rebuild: async () => (await opening).graph.rebuild(),
      rebuilding: async () => (await opening).graph.rebuilding(),
    },
    learning: {
      report: async () => (await opening).learning.report(),
      insight: async () => (await opening).learning.insight(),
      train: async (signal) => (await opening).learning.train(signal),
      stop: async () => (await opening).learning.stop(),
      rollBack: async () => (await opening).learning.rollBack(),
    },
    people: {
      createKey: async (order) => (await opening).people.createKey(order),
      keys: async () => (await opening).people.keys(),
      revokeKey: async (idOrName, by) => (await opening).people.revokeKey(idOrName, by),
      audit: async (query) => (await opening).people.audit(query),
    },
    executeWorkflow: later('executeWorkflow'),
    executeSuggestion: later('executeSuggestion'),
    planFromCode: later('planFromCode'),
    executeAsPlan: later('executeAsPlan'),
    executeIntent: later('executeIntent'),
    continueRun: later('continueRun'),
    runs: later('runs'),
    settleApproval: later('settleApproval'),
    showExact: later('showExact'),
    editCall: later('editCall'),
    request: later('request'),
    notify: later('notify'),
    identity: later('identity'),
    rawTools: later('rawTools'),
    forgetClient: later('forgetClient'),
    changesOfServer: later('changesOfServer'),
    acceptServer: later('acceptServer'),
    restart: later('restart'),
    login: later('login'),
    keepCredentials: later('keepCredentials'),
    reload: later('reload'),
    settled: later('settled'),
    close: later('close'),
  };
}
