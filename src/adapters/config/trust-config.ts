import { join, resolve } from 'node:path';
import { findNodeAtLocation, getNodeValue } from 'jsonc-parser';
import { recogniseForm } from './client-form.ts';
import { type ConfigSource, dataDir } from './find-config.ts';
import { readConfigFile } from './load-settings.ts';
import { parseSource } from './source-text.ts';
import { decodeText } from './text-file.ts';
import { revokeTrust, trustFile } from './trusted-files.ts';

/** Trusts a file as it is now; answers what it starts and reaches, with variables as they are written. */
export async function trustConfig(source: ConfigSource) {
  const file = fileOf(source);
  const bytes = await readConfigFile(file);
  const { root } = parseSource(file, decodeText(bytes).text);
  await trustFile(dataDir(source), file, bytes);
  const holder = findNodeAtLocation(root, recogniseForm(file, root).servers ?? ['mcpServers']);
  const entries: unknown = holder && getNodeValue(holder);
  const servers = Object.entries(entries ?? {}).map(([name, entry]) => ({ name, runs: runsOf(entry) }));
  return { file, servers };
}

/** Answers the file, and whether it was trusted. */
export async function distrustConfig(source: ConfigSource) {
  const file = fileOf(source);
  return { file, wasTrusted: await revokeTrust(dataDir(source), file) };
}

function fileOf({ file, cwd }: ConfigSource): string {
  return file === undefined ? join(cwd, 'pml.json') : resolve(cwd, file);
}

function runsOf(entry: { command?: unknown; args?: unknown; url?: unknown } | null): string {
  const { command, args, url } = entry ?? {};
  return [command ?? url, ...(Array.isArray(args) ? args : [])].map(String).join(' ');
}
