import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import { operation } from './operation.ts';

export const rejectSuggestion = operation({
  name: 'reject_suggestion',
  right: 'run',
  summary: 'Records that a suggested plan was rejected',
  input: z.strictObject({ suggestion_id: z.string() }),
  output: z.object({ suggestion_id: z.string(), verdict: z.literal('rejected') }),
  http: { method: 'POST', path: '/suggestions/:suggestion_id/reject' },
  async run({ gateway }, { suggestion_id: id }) {
    if (await gateway.rejectSuggestion(id)) return { suggestion_id: id, verdict: 'rejected' as const };
    throw new PmlError('store_conflict', `The outcome of suggestion ${id} is already known`);
  },
});
