import {
  createGuestFrame,
  type FrameInput,
  type FrameNative,
  type FrameSizes,
} from '../../../engine/ports/guest/guest-frame.ts';
import { lockRealm } from './lock-realm.ts';

export type Randoms = () => readonly number[];

/** Starts the program when `main` is given, else delivers an answer. One function: the child holds but one. */
export type EnterGuest = (
  main: unknown,
  id: number,
  ok: boolean,
  text: string,
  at: number,
  args?: string,
  deps?: string,
) => void;

/** What of a frame's start is not arguments: JSON. */
export type StartText = Pick<FrameInput, 'sites'> & FrameSizes;

/** Readies a fresh realm for one program. Sent into the realm as text, and called there with native functions. */
export function installGuest(
  callTool: FrameNative['callTool'],
  callCapability: FrameNative['callCapability'],
  begin: FrameNative['begin'],
  finish: FrameNative['finish'],
  decide: FrameNative['decide'],
  print: FrameNative['print'],
  succeed: FrameNative['succeed'],
  fail: FrameNative['fail'],
  randoms: Randoms,
): EnterGuest {
  const { parse } = JSON;
  let numbers: readonly number[] = [];
  let used = 0;
  const random = () => {
    if (used === numbers.length) {
      numbers = randoms();
      used = 0;
    }
    return numbers[used++]!;
  };
  let now = () => 0;
  lockRealm(() => now(), random);
  const frame = createGuestFrame({ callTool, callCapability, begin, finish, decide, print, succeed, fail });
  now = frame.now;
  return (main, id, ok, text, at, args, deps) => {
    if (main === undefined) return frame.deliver(id, ok, text, at);
    const start = parse(text) as StartText;
    frame.start(main, { sites: start.sites, args: args!, deps: deps!, at }, start);
  };
}
