import { frameRandom } from '../../src/core/numeric/random.ts';
import type { GuestHost, GuestProgram, SandboxOptions } from '../../src/engine/ports.ts';
import { type Aftermath, HOSTILE_LIMITS, type HostileCase, type SeenCall } from './hostile-case.ts';

const SEED = 'hostile';
/** Far from today, so that a glimpse of the true date shows. */
const NOW = Date.UTC(2000, 0, 1);

export const HOSTILE_OPTIONS: SandboxOptions = { limits: HOSTILE_LIMITS, seed: SEED, startedAt: NOW };
/** For what has to come to its end however busy the machine is. */
export const PATIENT_OPTIONS: SandboxOptions = {
  ...HOSTILE_OPTIONS,
  limits: { ...HOSTILE_LIMITS, cpuMs: 10_000, wallMs: 60_000 },
};

export function hostileProgram({ code }: Pick<HostileCase, 'code'>, args: unknown = given()): GuestProgram {
  const script = `(async function (mcp, capabilities, args, deps, console, $pml) {"use strict";\n${code}\n})`;
  return { script, name: 'attack.ts', sites: [], args, deps: { before: [1] } };
}

/** With the first random numbers its seed gives. */
function given() {
  const random = frameRandom(SEED, 0);
  return { list: [1, 2], now: NOW, randoms: [random.next(), random.next()].join() };
}

/**
 * Answers attacks, and sees what they ask for: `a:b` echoes its arguments, `a:list` has an answer of its own,
 * `a:slow` takes 5 ms, `a:fail` fails.
 */
export function hostileHost({ capabilities = {} }: HostileCase) {
  const calls: SeenCall[] = [];
  const marks: number[] = [];
  let frames = 0;
  const host: GuestHost = {
    async callTool(frame, { server, tool, args }) {
      const name = `${server}:${tool}`;
      calls.push([frame, name, args]);
      if (name === 'a:slow') await new Promise((resolve) => setTimeout(resolve, 5));
      if (name === 'a:list') return { ok: true, value: { list: [1, 2] }, at: NOW };
      if (name === 'a:b') return { ok: true, value: args, at: NOW };
      if (name === 'a:slow' || name === 'a:late') return { ok: true, value: null, at: NOW };
      const code = name === 'a:fail' ? 'tool_failed' : 'not_found';
      return { ok: false, error: { name: 'ToolError', code, message: 'It failed' }, at: NOW };
    },
    async enterCapability(_, slug, args) {
      const code = Object.hasOwn(capabilities, slug) ? capabilities[slug] : undefined;
      if (code === undefined) {
        return { ok: false, error: { name: 'CapabilityError', code: 'not_found', message: 'None' }, at: NOW };
      }
      frames++;
      return {
        ok: true,
        frame: frames,
        program: { ...hostileProgram({ code }, args), name: `${slug}.ts` },
        at: NOW,
      };
    },
    leaveCapability: () => {},
    mark: (_, { site }) => void marks.push(site),
  };
  const after = (outcome: Aftermath['outcome']): Aftermath => ({ outcome, calls: shortened(calls), marks });
  return { host, after };
}

/** A flood of calls says no more than its first ones. */
function shortened(calls: readonly SeenCall[]): readonly SeenCall[] {
  return calls.slice(0, 60);
}
