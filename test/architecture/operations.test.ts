import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTable } from '../../scripts/operations/operation-table.ts';
import { complaints, runCheck } from './check-command.ts';
import { treeOf } from './tree-of.ts';

const declared = (name: string) => `export const x = operation({ name: '${name}', right: 'read' });\n`;

test('[OP-6] an operation is declared once, and exported from the file with its name', async () => {
  const found = await complaints('operations', {
    'src/operations/get-it.ts': declared('get_it'),
    'src/operations/get-more.ts': declared('get_more').replace('export ', ''),
    'src/operations/other.ts': declared('get_other'),
    'src/operations/take-it.ts': declared('get_it'),
  });
  expect(found).toEqual([
    'src/operations/get-more.ts:1 declares get_more, but does not export it',
    'src/operations/other.ts:1 declares get_other: it belongs in src/operations/get-other.ts',
    'src/operations/take-it.ts:1 declares get_it again, after src/operations/get-it.ts',
  ]);
});

test('[OP-6] the table matches the folder: the check writes it, and refuses a committed one that differs', async () => {
  const files = {
    'src/operations/get-it.ts': declared('get_it'),
    'src/operations/table.ts': 'export const OPERATIONS = [];\n',
  };
  expect(await complaints('operations', files)).toEqual([
    'src/operations/table.ts is out of date: run "npm run build:operations"',
  ]);
  const root = await treeOf(files);
  expect(writeTable(root)).toBe(true);
  expect(runCheck('--only', 'operations', '--root', root)).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(root, 'src/operations/table.ts'), 'utf8')).toContain(
    "import { x } from './get-it.ts'",
  );
  expect(writeTable(root)).toBe(false);
});

test('[OP-6] no route of /api is declared anywhere else', async () => {
  const found = await complaints('operations', {
    'src/surfaces/http/a.ts': "app.get('/api/me', answer);\napp.get('/api/events', stream);\n",
    'src/surfaces/http/b.ts': "api.post('/me', answer);\napi.get('/events', stream);\n",
    'src/surfaces/dashboard/app/c.ts': "fetch('/api/me');\n",
  });
  expect(found).toEqual([
    'src/surfaces/http/a.ts:1 has the route /api/me: routes of /api come from the operations in src/operations',
    'src/surfaces/http/b.ts:1 has the route /me: routes of /api come from the operations in src/operations',
  ]);
});

test('[OP-6] the tree itself follows these rules', () => {
  expect(runCheck('--only', 'operations')).toMatchObject({ exitCode: 0, stderr: '' });
});
