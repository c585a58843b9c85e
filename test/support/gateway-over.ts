import { onTestFinished } from 'vitest';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { ServerSettings } from '../../src/engine/ports.ts';
import { openUpstream } from '../contracts/upstream-support.ts';
import { testGateway } from './test-gateway.ts';

/** A gateway on real servers, which end with the gateway. */
export async function gatewayOver(servers: readonly ServerSettings[]): Promise<Gateway> {
  const { upstream, dispose } = openUpstream(servers);
  onTestFinished(dispose);
  const offered = servers.map((server) => ({ ...server, tools: { include: ['*'], exclude: [] } }));
  return (await testGateway({ upstream, settings: { servers: offered } })).gateway;
}
