import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

const TEXT = '// Made anew for whoever asks.\n';

test('[HOUSE-17] 26 uses of avoided words are refused and listed, 25 are not', async () => {
  const full = { 'src/main.ts': TEXT.repeat(12), 'src/client.ts': '// "x" Is no tool.\n' };
  expect(await complaints('words', { ...full, 'test/more.ts': TEXT })).toEqual([]);
  const found = await complaints('words', { ...full, 'src/engine/gateway.ts': '\n// There are no tools.\n' });
  expect(found).toHaveLength(26);
  expect(found).toContain(
    'src/engine/gateway.ts:2 says "are no", one of 26 such places; at most 25: say who does what',
  );
  expect(found[0]).toMatch(/^src\/client\.ts:1 says "Is no"/);
});

test('[HOUSE-17] the tree itself stays within the limit', () => {
  expect(runCheck('--only', 'words')).toMatchObject({ exitCode: 0, stderr: '' });
});
