import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

const declared = (name: string) => `export const x = operation({ name: '${name}', right: 'read' });\n`;

test('[OP-6] an operation is declared once, in the file of its name, and is in the table', async () => {
  const found = await complaints('operations', {
    'src/operations/table.ts': "import { x } from './get-it.ts';\nexport const OPERATIONS = [x];\n",
    'src/operations/get-it.ts': declared('get_it'),
    'src/operations/get-more.ts': declared('get_more'),
    'src/operations/other.ts': declared('get_other'),
    'src/operations/take-it.ts': declared('get_it'),
  });
  expect(found).toEqual([
    'src/operations/get-more.ts:1 declares get_more, which is not in src/operations/table.ts',
    'src/operations/other.ts:1 declares get_other: its place is src/operations/get-other.ts',
    'src/operations/take-it.ts:1 declares get_it again, after src/operations/get-it.ts',
  ]);
});

test('[OP-6] no route of /api is written down anywhere else', async () => {
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

test('[OP-6] the tree itself keeps to it', () => {
  expect(runCheck('--only', 'operations')).toMatchObject({ exitCode: 0, stderr: '' });
});
