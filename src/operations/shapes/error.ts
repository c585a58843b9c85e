import { z } from 'zod';
import { ERROR_CODES } from '../../core/vocabulary/pml-error.ts';

export const errorShape = z
  .object({ code: z.enum(ERROR_CODES), message: z.string(), hint: z.string().optional() })
  .meta({ id: 'Error' });
