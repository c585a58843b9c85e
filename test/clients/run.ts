/**
 * `npm run clients [-- PART]... [--only NAME]... [--folder DIR] [--write]`: installs real clients and servers from npm into
 * a temporary folder and tries them with a real gateway. Parts: `matrix` (what each client can do), `servers` (twenty
 * servers in one configuration), `approvals` (which tools ask an unattended agent); without one, all of them.
 * `--write` updates docs/clients.md; `--folder` keeps what was installed. Fails when a check fails.
 */
import { parseArgs } from 'node:util';
import { tryApprovals } from './approvals.ts';
import { tryClients } from './matrix.ts';
import { openScratch, type PartOptions, type PartReport, writePart } from './scratch.ts';
import { tryServers } from './servers.ts';

const PARTS: Readonly<Record<string, (options: PartOptions) => Promise<PartReport>>> = {
  matrix: tryClients,
  servers: tryServers,
  approvals: tryApprovals,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: [] },
    folder: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const { folder, remove } = openScratch(values.folder);
try {
  for (const part of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
    const measure = PARTS[part];
    if (!measure) throw new Error(`no such part: ${part}; there are ${Object.keys(PARTS).join(', ')}`);
    const { text, failed } = await measure({ only: values.only, folder });
    process.stdout.write(`${text}\n\n`);
    for (const one of failed) process.stderr.write(`✗ ${one}\n`);
    if (failed.length > 0) process.exitCode = 1;
    if (values.write) writePart(part, text);
  }
} finally {
  remove();
}
