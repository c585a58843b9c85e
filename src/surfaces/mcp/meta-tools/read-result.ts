import { z } from 'zod';
import type { JsonObject } from '../../../engine/ports.ts';
import { answer } from './answer.ts';
import type { Workshop } from './meta-tool.ts';
import { readArguments } from './read-arguments.ts';

const NAME = 'pml:read_result';
const ARGUMENTS = z.object({
  id: z.string().min(1),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).optional(),
});
const PUBLISHED = z.toJSONSchema(ARGUMENTS, { io: 'input' }) as JsonObject;

export function isReadResult(tool: string): boolean {
  return tool.trim().replace(/^pml[_./]/, 'pml:') === NAME;
}

/** A slice of a result that was too large to answer with, for clients that read no resources. */
export function readResult(args: unknown, { results }: Workshop): JsonObject {
  const { id, offset, limit } = readArguments(NAME, ARGUMENTS, PUBLISHED, args);
  const slice = results.slice(id.replace(/^pml:\/\/results\//, ''), offset, limit);
  return answer({ status: 'success', run_id: null, trace_id: null, result: slice });
}
