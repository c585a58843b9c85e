import type { JsonObject, UpstreamEvent } from '../../engine/ports.ts';
import type { FanOut, ListKind } from './fan-out.ts';
import { gatewayUri } from './pass-through/resource-uri.ts';

type Notification = Extract<UpstreamEvent, { type: 'notification' }>;

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

/** What a server says, to the clients of its transparent endpoint: as it is. */
export function forwardEvent(event: Notification, fanOut: FanOut): void {
  const { method, params } = event;
  const list = LIST_CHANGED.exec(method)?.[1] as ListKind | undefined;
  if (list) fanOut.listChanged(list, params, event);
  else if (method === 'notifications/resources/updated')
    fanOut.resourceUpdated(String(params.uri), params, event);
  else fanOut.remark(method, params, event);
}

/** The same to the clients of `/mcp`: in the gateway's names, and only what they can make sense of. */
export function forwardToGateway(event: Notification, fanOut: FanOut): void {
  const { server, method, params } = event;
  switch (method) {
    // Its tools are not listed there; that the inventory changed is told when it has.
    case 'notifications/tools/list_changed':
      break;
    case 'notifications/resources/updated':
      fanOut.resourceUpdated(gatewayUri(server, String(params.uri)), params, event);
      break;
    case 'notifications/message':
      fanOut.remark(method, { ...params, logger: loggerOf(server, params) }, event);
      break;
    default:
      forwardEvent(event, fanOut);
  }
}

function loggerOf(server: string, { logger }: JsonObject): string {
  return logger === undefined ? server : `${server}/${logger}`;
}
