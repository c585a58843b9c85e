/**
 * `npm run build:operations`: writes the table of operations from the files in their folder.
 *
 *   node scripts/build-operations.ts [--root DIR]
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TABLE, writeTable } from './operations/operation-table.ts';

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));
console.log(writeTable(root) ? `wrote ${TABLE}` : `${TABLE} is current`);
