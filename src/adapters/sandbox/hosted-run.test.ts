import { describe, expect, test } from 'vitest';
import type { GuestHost, GuestMark, GuestOutcome, SandboxSettings } from '../../engine/ports.ts';
import { type ChildListener, type GuestChild, readMessage } from './guest-child.ts';
import { HostedRun } from './hosted-run.ts';
import type { HostMessage } from './messages.ts';

const LIMITS: SandboxSettings = {
  memoryMb: 64,
  cpuMs: 1_000,
  wallMs: 10_000,
  callsInFlight: 2,
  callsTotal: 4,
  argumentBytes: 1_000,
  resultBytes: 1_000,
  consoleBytes: 10,
};

/** A child that says what the test lets it say. */
class PuppetChild implements Pick<GuestChild, 'pid' | 'listener' | 'maxBytes' | 'send' | 'kill'> {
  readonly pid = 0;
  maxBytes = 0;
  listener: ChildListener | null = null;
  readonly heard: string[] = [];

  send(message: HostMessage): void {
    this.heard.push(message.type);
  }

  kill(): void {
    const { listener } = this;
    this.listener = null;
    listener?.onExit({ how: 'SIGKILL', lastWords: '' });
  }

  say(head: unknown, ...texts: string[]): void {
    const message = readMessage(head);
    try {
      if (message) this.listener?.onMessage(message, texts);
      else this.listener?.onBreach('an unknown message');
    } catch (error) {
      this.listener?.onBreach((error as Error).message);
    }
  }
}

function begin(over: Partial<GuestHost> = {}) {
  const marks: GuestMark[] = [];
  const calls: number[] = [];
  const host: GuestHost = {
    callTool: (frame) => {
      calls.push(frame);
      return new Promise(() => {});
    },
    enterCapability: () => new Promise(() => {}),
    leaveCapability: () => {},
    mark: (_, mark) => void marks.push(mark),
    ...over,
  };
  const child = new PuppetChild();
  const sites = [{ kind: 'decision', node: 'n1' }] as const;
  const program = { script: '', name: 'p.ts', sites, args: null, deps: null };
  const options = { limits: LIMITS, seed: '', startedAt: 0 };
  const run = new HostedRun(child as unknown as GuestChild, host, options, () => {});
  run.start(program);
  return { child, marks, calls, outcome: run.ended.then(({ outcome }): GuestOutcome => outcome), run };
}

const END = { type: 'end', cpuMs: 1, truncated: false };
const tool = (over: object = {}) => ({
  type: 'tool',
  frame: 0,
  call: 1,
  at: 0,
  server: 's',
  tool: 't',
  ...over,
});
const mark = (over: object = {}) => ({ kind: 'decision', site: 0, taken: 'true', at: 0, ...over });

describe('[BOX-17] the host trusts nothing that a child says', () => {
  test.each<[string, unknown[], string[]?]>([
    ['no message at all', [42]],
    ['a message nobody knows', [{ type: 'shutdown' }]],
    ['a message with more in it', [{ ...END, ok: true }]],
    ['a call from a frame that does not run', [tool({ frame: 3 })], ['{}']],
    ['a frame that is not a number', [tool({ frame: '0' })], ['{}']],
    ['arguments that are not JSON', [tool()], ['{']],
    ['more calls at once than allowed', [tool(), tool({ call: 2 }), tool({ call: 3 })], ['{}']],
    ['the end of a frame that does not run', [{ type: 'leave', frame: 1, at: 0 }], ['1']],
    ['the end of the program as that of a capability', [{ type: 'leave', frame: 0, at: 0 }], ['1']],
    ['a mark of a frame that does not run', [{ type: 'marks', marks: [[1, mark()]] }]],
    ['a mark of a site that is not there', [{ type: 'marks', marks: [[0, mark({ site: 1 })]] }]],
    [
      'a decision that is said to be an operation',
      [
        {
          type: 'marks',
          marks: [[0, { kind: 'operation', site: 0, startedAt: 0, endedAt: 1, success: true }]],
        },
      ],
    ],
    ['a result that is not JSON', [END], ['nonsense']],
    ['that it is ready', [{ type: 'ready' }]],
  ])('the child is ended when it sends %s', async (_, heads, texts = []) => {
    const { child, outcome } = begin();
    for (const head of heads) child.say(head, ...texts);
    expect(await outcome).toMatchObject({
      ok: false,
      error: { kind: 'crashed', message: expect.stringContaining('broke the protocol') },
    });
  });

  test('the host counts the total number of calls as well', async () => {
    const { child, calls, outcome } = begin({
      callTool: async (frame) => {
        calls.push(frame);
        return { ok: true, value: 1, at: 0 };
      },
    });
    for (let call = 1; call <= 5; call++) {
      child.say(tool({ call }), '{}');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await outcome).toMatchObject({ ok: false, error: { kind: 'limit', limit: 'calls' } });
    expect(calls).toHaveLength(4);
  });

  test('timestamps lie between the start of the run and now, whatever the child says', async () => {
    const before = performance.now();
    const { child, marks, outcome } = begin();
    child.say({
      type: 'marks',
      marks: [
        [0, mark({ at: -1e9 })],
        [0, mark({ at: 1e15 })],
      ],
    });
    child.say(END, '1');
    await outcome;
    const [early, late] = marks as { at: number }[];
    expect(early!.at).toBeGreaterThanOrEqual(before);
    expect(late!.at).toBeLessThanOrEqual(performance.now());
  });

  test('the child cannot print more than the limit', async () => {
    const { child, outcome } = begin();
    child.say({ type: 'print', level: 'log' }, 'x'.repeat(100));
    child.say({ type: 'print', level: 'log' }, 'more');
    child.say(END, '1');
    expect(await outcome).toMatchObject({ console: [{ text: 'x'.repeat(9) }], truncated: true });
  });

  test('a child that broke the protocol is not reused; one that ended well is', async () => {
    const bad = begin();
    bad.child.say({ type: 'shutdown' });
    expect((await bad.run.ended).isClean).toBe(false);
    const good = begin();
    good.child.say(END, '1');
    expect((await good.run.ended).isClean).toBe(true);
    expect(good.child.heard).toEqual(['start']);
  });
});
