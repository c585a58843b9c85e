import { z } from 'zod';
import { EDGE_SOURCES, EDGE_TYPES } from '../../core/vocabulary/edge.ts';

export const nodeKind = z.enum(['tool', 'capability', 'operation']);

export const graphEdge = z
  .object({
    source: z.string(),
    target: z.string(),
    edge_type: z.enum(EDGE_TYPES),
    edge_source: z.enum(EDGE_SOURCES),
    weight: z.number(),
    observed_count: z.number(),
    invocation_count: z.number(),
  })
  .meta({ id: 'GraphEdge' });
