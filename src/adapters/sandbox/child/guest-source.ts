import { createGuestCalls } from '../../../engine/guest/guest-calls.ts';
import { createGuestConsole } from '../../../engine/guest/guest-console.ts';
import { createGuestDate } from '../../../engine/guest/guest-date.ts';
import { createGuestFrame } from '../../../engine/guest/guest-frame.ts';
import { createGuestHooks } from '../../../engine/guest/guest-hooks.ts';
import { captureIntrinsics } from '../../../engine/guest/intrinsics.ts';
import { createShowValue } from '../../../engine/guest/show-value.ts';
import { createToJson } from '../../../engine/guest/to-json.ts';
import { prepareGuest } from './install-guest.ts';
import { lockRealm } from './lock-realm.ts';
import { stripRealm } from './strip-realm.ts';

/** Every function the guest's side consists of; each uses only its arguments and the others, by name. */
const PARTS = [
  captureIntrinsics,
  createToJson,
  createShowValue,
  createGuestDate,
  createGuestCalls,
  createGuestConsole,
  createGuestHooks,
  createGuestFrame,
  lockRealm,
  stripRealm,
  prepareGuest,
];

/** The global by which a fresh realm hands over its `InstallGuest`. */
export const INSTALL = 'pmlInstall';

/** Run once in every realm. Strict, so that nothing called by these functions can walk the stack. */
export const GUEST_SOURCE = `globalThis.${INSTALL} = (() => {
'use strict';
${PARTS.join('\n')}
return prepareGuest();
})();`;

/** A program that uses everything once: what it makes the engine compile stays in the snapshot. */
export const WARM_UP = `{
const told = () => true;
const none = () => undefined;
const enter = ${INSTALL}(none, none, told, none, told, told, none, none, () => [0.5]);
const main = async (mcp, capabilities, args, deps, console, $pml) => {
  console.log('text', { list: [args, deps] }, Math.random(), new Date());
  $pml.test(0, true);
  $pml.call(1, [1], 'map', [(x) => x]);
  await mcp.server.tool({ text: 'a', list: [1, true, null] });
  try {
    await capabilities.name();
  } catch {}
  return { text: 'a', list: [1, true, null] };
};
const sizes = { maxArguments: 1e6, maxResult: 1e6, maxConsole: 1e6, maxMarksPerSite: 1e6 };
enter(main, 0, true, JSON.stringify({ sites: [null, 'map'], ...sizes }), 0, '{}', '{}');
enter(undefined, 0, true, '{}', 0);
enter(undefined, 1, false, '{"name":"ToolError","code":"x","message":"x"}', 0);
}`;
