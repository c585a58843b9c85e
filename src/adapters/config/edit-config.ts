import { homedir } from 'node:os';
import { join } from 'node:path';
import { findNodeAtLocation, type JSONPath } from 'jsonc-parser';
import { nearestName } from '../../core/retrieval/words.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { recogniseForm } from './client-form.ts';
import { type ConfigSource, dataDir, findConfig, requireTrust, trustFile } from './find-config.ts';
import { removeProperty, setProperty } from './json-edits.ts';
import { readConfig } from './read-config.ts';
import { parseSource, propertiesOf } from './source-text.ts';
import { decodeText, readTextFile, writeFileWhole } from './text-file.ts';

/** A server's entry in the file, as the configuration schema defines it. */
export type ServerEntry = Readonly<Record<string, unknown>>;

/** Adds a server to the current configuration, or to a new one in the data folder; returns the file. */
export async function addServer(source: ConfigSource, name: string, entry: ServerEntry): Promise<string> {
  return await edit(source, (text, { servers, names }, file) => {
    if (names.includes(name)) {
      throw new PmlError('invalid_argument', `${file} already has a server "${name}"`, {
        hint: `Remove it first with "pml servers remove ${name}", or choose another name.`,
      });
    }
    return setProperty(text, [...servers, name], entry);
  });
}

/** Removes a server from the current configuration; returns the file. */
export async function removeServer(source: ConfigSource, name: string): Promise<string> {
  return await edit(source, (text, { servers, names }, file) => {
    if (!names.includes(name)) {
      const meant = nearestName(name, names);
      throw new PmlError('not_found', `Server "${name}" not found in ${file}`, {
        hint: meant === null ? `Its servers: ${names.join(', ') || 'none'}.` : `Did you mean "${meant}"?`,
      });
    }
    return removeProperty(text, [...servers, name]);
  });
}

interface Place {
  readonly servers: JSONPath;
  readonly names: readonly string[];
}

/** The new text is validated before it is written. */
async function edit(
  source: ConfigSource,
  change: (text: string, place: Place, file: string) => string,
): Promise<string> {
  const data = dataDir(source);
  const { file, isFound } = (await findConfig(source)) ?? { file: join(data, 'pml.json'), isFound: false };
  const present = (await readTextFile(file)) ?? decodeText(Buffer.from('{}\n'));
  if (isFound) await requireTrust(data, file, present.bytes);
  const { root } = parseSource(file, present.text);
  const servers = recogniseForm(file, root).servers ?? ['mcpServers'];
  const holder = findNodeAtLocation(root, servers);
  const names = holder ? propertiesOf(holder).map(({ key }) => key) : [];
  const changed = change(present.text, { servers, names }, file);
  readConfig(file, changed, { env: source.env, home: source.home ?? homedir() });
  const bytes = present.encode(changed);
  // Before the write, so that a gateway that watches the file finds it trusted.
  if (isFound) await trustFile(data, file, bytes);
  await writeFileWhole(file, bytes);
  return file;
}
