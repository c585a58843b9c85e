import { jsonServers } from './json-servers.ts';
import type { ServersFormat } from './servers.ts';
import { tomlServers } from './toml-servers.ts';

/** How the servers in a kind of file are read and changed. */
export const SERVERS_FORMATS: Readonly<Record<'json' | 'toml', ServersFormat>> = {
  json: jsonServers,
  toml: tomlServers,
};
