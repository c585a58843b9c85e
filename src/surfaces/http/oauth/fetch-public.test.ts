import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { fetchPublic, isPublicAddress } from './fetch-public.ts';

test('[OAUTH-14] private, local and special addresses are not public', () => {
  const hidden = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    'localhost',
  ];
  expect(hidden.filter(isPublicAddress)).toEqual([]);
  const open = ['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'];
  expect(open.filter(isPublicAddress)).toEqual(open);
});

test('[OAUTH-14] no connection is made to this machine, by any of its names', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0', '[::1]', '[::ffff:127.0.0.1]'])
    await expect(fetchPublic(`https://${host}:${port}/client.json`), host).rejects.toThrow(/public address/);
  await expect(fetchPublic(`http://example.com:${port}/client.json`)).rejects.toThrow(/not https/);
  await expect(fetchPublic('file:///etc/passwd')).rejects.toThrow(/not https/);
  expect(connections).toBe(0);
  server.close();
});
