import { applyDefaults, checkArguments } from '../../core/capabilities/validate-arguments.ts';
import type { PreparedProgram } from '../../core/structure/emit/prepare-program.ts';
import type { SourcePosition } from '../../core/structure/parse/parse-program.ts';
import type { OpenCall } from '../../core/tracing/recorder.ts';
import { capabilityNode } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Capability, GuestCallError, GuestProgram, JsonObject } from '../ports.ts';
import type { Run } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';

const DEFAULTS = {
  /** Capabilities within capabilities, the outermost included. */
  maxDepth: 8,
};

/** `key`: the place of the call in the program that made it. */
type Entered = { readonly key: string } & (
  | { readonly ok: true; readonly frame: number; readonly program: GuestProgram }
  | { readonly ok: false; readonly error: GuestCallError }
);

/** A program calls a capability: found, checked, traced under its caller, ready to run in a frame of its own. */
export function enterCapability(
  scope: RunScope,
  run: Run,
  frames: Frames,
  from: Frame,
  slug: string,
  args: unknown,
  madeAt?: number,
): Entered {
  const path = from.nextKey();
  let capability: Capability;
  try {
    capability = scope.capabilities.known(slug);
  } catch (error) {
    return refused(path, PmlError.from(error));
  }
  const span = run.recorder.start(capabilityNode(capability.id), from.span?.traceId ?? null, args, madeAt);
  try {
    checkNesting(from, capability);
    const { program, args: whole } = openCapability(scope, capability, args);
    const lineage = [...from.lineage, capability];
    const name = fileOf(capability);
    const frame = frames.add({ path, span, lineage, name, program });
    return { key: path, ok: true, frame: frame.number, program: guestProgram(program, name, whole) };
  } catch (error) {
    const problem = PmlError.from(error);
    const errorType: ErrorType = problem.code === 'forbidden' ? 'PERMISSION' : 'VALIDATION';
    span.end({ success: false, error: problem.message, errorType });
    return refused(path, problem, errorType);
  }
}

/** The file name shown in errors of a capability. */
function fileOf({ slug }: Capability): string {
  return `${slug}.ts`;
}

/** The program with its arguments completed by defaults; throws if it may not run with them. */
export function openCapability(
  { programs }: Pick<RunScope, 'programs'>,
  capability: Capability,
  args: unknown,
): { readonly program: PreparedProgram; readonly args: JsonObject } {
  const { slug, state, parametersSchema, evidence } = capability;
  if (state === 'quarantined') {
    throw new PmlError(
      'forbidden',
      `${slug} is quarantined: ${evidence.quarantinedBecause ?? 'by a person'}`,
      {
        hint: `Look at it with "pml capability show ${slug}".`,
      },
    );
  }
  // Before defaults: a parameter that must be given is not filled in with what some run once had.
  const given = (args ?? {}) as JsonObject;
  const problems = checkArguments(parametersSchema, given);
  if (problems.length > 0) {
    throw new PmlError('invalid_argument', `${slug} cannot run with these arguments: ${problems.join('; ')}`);
  }
  const prepared = programs.prepare(capability.code);
  if (!prepared.ok)
    throw new PmlError('internal', `The code of ${slug} cannot be read: ${prepared.error.message}`);
  return { program: prepared.value, args: applyDefaults(parametersSchema, given) as JsonObject };
}

export function guestProgram(
  { script, sites }: PreparedProgram,
  name: string,
  args: unknown,
  deps: unknown = {},
): GuestProgram {
  return { script, sites, name, args, deps };
}

function checkNesting({ lineage }: Frame, { id, slug }: Capability): void {
  const way = [...lineage.map((one) => one.slug), slug].join(' → ');
  if (lineage.some((one) => one.id === id)) {
    throw new PmlError('invalid_argument', `Capabilities call each other in a circle: ${way}`);
  }
  if (lineage.length >= DEFAULTS.maxDepth) {
    throw new PmlError(
      'invalid_argument',
      `Capabilities are nested deeper than ${DEFAULTS.maxDepth}: ${way}`,
    );
  }
}

function refused(
  key: string,
  { code, message, hint }: PmlError,
  errorType: ErrorType = 'NOT_FOUND',
): Entered {
  const told = hint === undefined ? message : `${message}. ${hint}`;
  return { key, ok: false, error: { name: 'CapabilityError', code, message: told, errorType } };
}

/** One running program of a run: the code itself, or one invocation of a capability. */
export interface Frame {
  readonly number: number;
  /** `` at the root, `#2` for what its third call entered. */
  readonly path: string;
  /** Null for code outside a capability: its calls are at the root of the trace. */
  readonly span: OpenCall | null;
  /** The capabilities it runs within, itself included, outermost first. */
  readonly lineage: readonly Capability[];
  readonly name: string;
  readonly program: PreparedProgram;
  /** Names the next call: calls of one program come in the same order on every run. */
  nextKey(): string;
}

/** The programs of one run, by the numbers the sandbox knows them by. */
export interface Frames {
  add(frame: Omit<Frame, 'number' | 'nextKey'>): Frame;
  get(number: number): Frame;
  /** A place in a script, in the source it was made from. */
  locate(file: string, line: number, column: number): SourcePosition | null;
}

export function createFrames(): Frames {
  const frames: Frame[] = [];
  return {
    add(parts) {
      let calls = 0;
      const nextKey = () => `${parts.path}#${calls++}`;
      const frame = { ...parts, number: frames.length, nextKey };
      frames.push(frame);
      return frame;
    },
    get(number) {
      const frame = frames[number];
      if (!frame) throw new RangeError(`Unknown frame ${number}`);
      return frame;
    },
    locate: (file, line, column) =>
      frames.findLast(({ name }) => name === file)?.program.locate(line, column) ?? null,
  };
}
