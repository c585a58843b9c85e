import type { PreparedProgram } from '../../core/structure/emit/prepare-program.ts';
import type { SourcePosition } from '../../core/structure/parse/source-position.ts';
import type { OpenCall } from '../../core/tracing/recorder.ts';
import type { Capability } from '../ports.ts';

/** One running program of a run: the code itself, or one invocation of a capability. */
export interface Frame {
  readonly number: number;
  /** `` at the root, `#2` for what its third call entered. */
  readonly path: string;
  /** Null for code that is no capability: its calls stand at the root of the trace. */
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
      if (!frame) throw new RangeError(`There is no frame ${number}`);
      return frame;
    },
    locate: (file, line, column) =>
      frames.findLast(({ name }) => name === file)?.program.locate(line, column) ?? null,
  };
}
