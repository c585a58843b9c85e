import type { JsonObject } from '../../../engine/ports.ts';
import { refusal } from './answer.ts';

/** `code` and `capability` of `pml_execute`. */
export function executeCode(): JsonObject {
  return refusal({
    code: 'not_available',
    message: 'This version runs single tools and workflows, not code or capabilities',
    hint: 'Call pml_execute with tool and arguments, or pml_execute_workflow for several steps.',
  });
}
