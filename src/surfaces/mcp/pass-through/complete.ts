import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest } from '../endpoint.ts';
import { invalidParams, valueIn } from '../rpc-error.ts';
import type { Prompts } from './prompts.ts';
import { parseGatewayUri } from './resource-uri.ts';

const NOTHING = { completion: { values: [], total: 0, hasMore: false } };

/** `completion/complete`, for a prompt's argument or a resource template's variable. */
export async function complete(
  gateway: Gateway,
  prompts: Prompts,
  { params, meta, caller }: ClientRequest,
): Promise<JsonObject> {
  const ref = (params.ref ?? {}) as JsonObject;
  const ask = async (server: string, own: JsonObject) => {
    const sent = { ...params, ref: { ...ref, ...own } };
    return valueIn(await gateway.request(server, 'completion/complete', sent, caller, meta));
  };
  switch (ref.type) {
    case 'ref/prompt': {
      const { server, prompt } = await prompts.resolve(ref.name, caller);
      return await ask(server, { name: prompt });
    }
    case 'ref/resource': {
      const named = parseGatewayUri(ref.uri);
      return 'result' in named ? NOTHING : await ask(named.server, { uri: named.uri });
    }
    default:
      throw invalidParams(`"ref.type" must be "ref/prompt" or "ref/resource", not "${ref.type}"`);
  }
}
