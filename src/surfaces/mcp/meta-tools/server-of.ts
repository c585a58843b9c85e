import { parseToolId, splitToolId } from '../../../core/vocabulary/ids.ts';
import type { Gateway } from '../../../engine/gateway.ts';

/** The server a tool is of, however it is spelt; null where no server is named. */
export function serverOf(tool: string, gateway: Gateway): string | null {
  const names = gateway.settings().servers.map(({ name }) => name);
  try {
    const { server } = splitToolId(parseToolId(tool, names));
    return names.includes(server) ? server : null;
  } catch {
    return null;
  }
}
