import { createGuestCalls } from '../../../engine/ports/guest/guest-calls.ts';
import { createGuestConsole } from '../../../engine/ports/guest/guest-console.ts';
import { createGuestDate } from '../../../engine/ports/guest/guest-date.ts';
import { createGuestFrame } from '../../../engine/ports/guest/guest-frame.ts';
import { createGuestHooks } from '../../../engine/ports/guest/guest-hooks.ts';
import { captureIntrinsics } from '../../../engine/ports/guest/intrinsics.ts';
import { createShowValue } from '../../../engine/ports/guest/show-value.ts';
import { createToJson } from '../../../engine/ports/guest/to-json.ts';
import { installGuest } from './install-guest.ts';
import { lockRealm } from './lock-realm.ts';

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
  installGuest,
];

/** A script whose value is `installGuest`. Strict, so that no caller of these functions can walk the stack. */
export const GUEST_SOURCE = `(() => {\n'use strict';\n${PARTS.join('\n')}\nreturn ${installGuest.name};\n})()`;
