import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { CodeError, JsonObject } from '../../../engine/ports.ts';

/** A tool's result as data, and the same as text for clients that read only that; other content follows. */
export function answer(structured: JsonObject, blocks: readonly JsonObject[] = []): JsonObject {
  const content = [{ type: 'text', text: JSON.stringify(structured) }, ...blocks];
  return { content, structuredContent: structured };
}

/** What failed, where a model sees it and can do better. */
export function failure(structured: JsonObject, blocks: readonly JsonObject[] = []): JsonObject {
  return { ...answer(structured, blocks), isError: true };
}

export function refusal(error: ErrorShape): JsonObject {
  return failure({ status: 'error', error: errorToWire(error) });
}

/** Without what only the transparent endpoint passes on; with the place in the code, where there is one. */
export function errorToWire({ code, message, hint, line, column }: CodeError): CodeError {
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}
