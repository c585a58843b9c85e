import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataDir as dataDirOf, findConfig } from './adapters/config/find-config.ts';
import { isAlive, readHolder } from './adapters/store/data-dir-lock.ts';
import type { ProcessContext } from './compose/start-gateway-process.ts';
import { PmlError } from './core/vocabulary/pml-error.ts';
import type { Settings } from './engine/ports.ts';
import type { GlobalOptions, System } from './surfaces/cli/system.ts';

/** The file that clients start: the same from the sources and from the built package. */
const LAUNCHER = join(fileURLToPath(new URL('../bin/', import.meta.url)), 'pml.js');

/**
 * Assembles everything. Code that a command does not need is not loaded: `pml --help`, and a `pml stdio` that
 * only passes messages to another process, must start fast.
 */
export function compose(env: ProcessContext['env'], cwd: string): System {
  const context: ProcessContext = { version: readVersion(), env, cwd };
  const source = ({ config, data }: GlobalOptions) => ({
    env,
    cwd,
    ...(config !== undefined && { file: config }),
    ...(data !== undefined && { data }),
  });
  const dataDir = (options: GlobalOptions) => dataDirOf(source(options));
  const loadSettings = async (options: GlobalOptions): Promise<Settings> => {
    const config = await import('./adapters/config/load-settings.ts');
    return await config.loadSettings(source(options));
  };

  const open = async (options: GlobalOptions, role: string) => {
    const { openBridge } = await import('./compose/open-bridge.ts');
    return await openBridge(dataDir(options), await loadSettings(options), role, context);
  };

  /** The gateway that serves from the data folder, or its demo. */
  const openServing = async (options: GlobalOptions) => {
    const [{ createHttpBridge }, { readToken }, { bridgedOperations }] = await Promise.all([
      import('./adapters/client/http-bridge.ts'),
      import('./adapters/store/data-dir-lock.ts'),
      import('./operations/bridged-operations.ts'),
    ]);
    const dir = dataDir(options);
    for (const candidate of [dir, join(dir, 'demo')]) {
      const holder = await readHolder(candidate);
      if (holder?.role !== 'serve' || holder.port === null || !isAlive(holder)) continue;
      const bridge = createHttpBridge(holder.port, await readToken(candidate), userInfo().username);
      return { pml: bridgedOperations(bridge), through: () => holder, close: bridge.close };
    }
    throw new PmlError('not_found', `No gateway is running for ${dir}`, {
      hint: 'Start one with "pml serve".',
    });
  };

  return {
    version: context.version,
    dataDir,
    loadSettings,

    async createEmbedder(settings) {
      const { createEmbedder } = await import('./adapters/embedding/create-embedder.ts');
      return createEmbedder(settings.embedding);
    },

    async evaluate(options, onProgress) {
      const { evaluateDataSets } = await import('./compose/evaluate.ts');
      const settings = await loadSettings(options.config === undefined ? {} : { config: options.config });
      return await evaluateDataSets(options, settings, join(dataDir({}), 'vectors'), onProgress);
    },

    async stream(options, onProgress) {
      const { streamDataSets } = await import('./compose/evaluate.ts');
      const settings = await loadSettings(options.config === undefined ? {} : { config: options.config });
      return await streamDataSets(options, settings, join(dataDir({}), 'vectors'), onProgress);
    },

    async holder(options) {
      const holder = await readHolder(dataDir(options));
      return holder && isAlive(holder) ? holder : null;
    },

    async openGateway(options, role) {
      const { bridge, through } = await open(options, role);
      const { bridgedOperations } = await import('./operations/bridged-operations.ts');
      return { pml: bridgedOperations(bridge), through, close: bridge.close };
    },
    openServing,

    async planInit(options) {
      const { initOptions } = await import('./adapters/config/client-files/plan-init.ts');
      const { planInit } = await import('./adapters/config/client-files/plan-init.ts');
      const here = initOptions(source(options), {
        node: process.execPath,
        launcher: LAUNCHER,
        now: () => new Date(),
      });
      const holder = await readHolder(dataDir(options));
      const ports = holder?.port && isAlive(holder) ? [holder.port] : [];
      return await planInit({
        ...here,
        ports,
        ...(options.from !== undefined && { from: options.from }),
        ...(options.project !== undefined && { project: options.project }),
      });
    },

    async planUndo(options) {
      const { initOptions } = await import('./adapters/config/client-files/plan-init.ts');
      const { planUndo } = await import('./adapters/config/client-files/plan-undo.ts');
      const { journal } = initOptions(source(options), {
        node: process.execPath,
        launcher: LAUNCHER,
        now: () => new Date(),
      });
      return await planUndo({ journal, ...(options.from !== undefined && { from: options.from }) });
    },

    async trust(options, file) {
      const { trustConfig } = await import('./adapters/config/load-settings.ts');
      return await trustConfig(source({ ...options, ...(file !== undefined && { config: file }) }));
    },

    async distrust(options, file) {
      const { distrustConfig } = await import('./adapters/config/load-settings.ts');
      return await distrustConfig(source({ ...options, ...(file !== undefined && { config: file }) }));
    },

    async addServer(options, name, entry) {
      const { addServer } = await import('./adapters/config/edit-config.ts');
      return await addServer(source(options), name, entry);
    },

    async readImport({ mirror, via, set = {}, url, header }, source) {
      const { findServer, entryOfServer } = await import('./adapters/config/registry-entry.ts');
      const { OpenApiDocument, readDocument } = await import('./adapters/upstream/openapi-document.ts');
      const { entryOfApi } = await import('./adapters/upstream/openapi-tools.ts');
      const file = resolve(cwd, mirror ?? source);
      const content = await readDocument(file);
      if (mirror === undefined && ('openapi' in content || 'swagger' in content))
        return entryOfApi(file, OpenApiDocument.of(file, content), { url, headers: header });
      const server = findServer(content, mirror === undefined ? null : source);
      return entryOfServer(server, { values: set, ...(via !== undefined && { via }) });
    },

    async sandboxProblem() {
      return await (await import('./adapters/upstream/confine.ts')).sandboxProblem();
    },

    async removeServer(options, name) {
      const { removeServer } = await import('./adapters/config/edit-config.ts');
      return await removeServer(source(options), name);
    },

    async restore({ replace, ...options }, file, onProgress) {
      const { restoreBackup } = await import('./compose/maintenance.ts');
      const { store } = await loadSettings(options);
      return await restoreBackup(dataDir(options), store, resolve(cwd, file), { replace }, onProgress);
    },

    async migrateStore({ replace, ...options }, to, onProgress) {
      const { migrateStore } = await import('./compose/maintenance.ts');
      const { store } = await loadSettings(options);
      return await migrateStore(dataDir(options), store, to, { replace }, onProgress);
    },

    async serve(options) {
      const { serve } = await import('./compose/serve.ts');
      const env = { ...context.env, ...(options.verbose && { PML_LOG: 'info' }) };
      return await serve(dataDir(options), () => loadSettings(options), options, { ...context, env });
    },

    async stdio(options) {
      const { serveStdio } = await import('./compose/stdio.ts');
      // Reports configuration errors at once: later, a client would only see its first call fail.
      if ((await findConfig(source(options)))?.isFound) await loadSettings(options);
      const path = options.native ? `/mcp/all${options.meta ? '?meta=1' : ''}` : '/mcp';
      return serveStdio(dataDir(options), () => loadSettings(options), context, path);
    },
  };
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
