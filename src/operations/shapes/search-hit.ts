import { z } from 'zod';
import type { CapabilityHit, SearchHit } from '../../engine/gateway.ts';

export const relation = z.enum(['often_before', 'often_after', 'used_together']);

/** What each part adds to a final score; together they make it. */
const scoreShares = z.object({
  semantic: z.number(),
  clause: z.number(),
  lexical: z.number(),
  name: z.number(),
  graph: z.number(),
  /** Replaces the four of the text. */
  learned: z.number(),
});

export const toolHit = z
  .object({
    tool_id: z.string(),
    server_id: z.string(),
    description: z.string(),
    input_schema: z.unknown(),
    signature: z.string().optional(),
    semantic_score: z.number(),
    graph_score: z.number(),
    final_score: z.number(),
    parts: z.object({
      whole: z.number(),
      clause: z.number(),
      lexical: z.number(),
      name: z.number(),
      alpha: z.number(),
      learned: z.number().optional(),
      learned_share: z.number().optional(),
    }),
    reasons: z
      .object({
        parts: z.array(z.object({ name: z.string(), moved: z.number() })),
        runs: z.array(z.object({ intent: z.string(), similarity: z.number() })),
      })
      .optional(),
    shares: scoreShares.optional(),
    related_tools: z.array(z.object({ tool_id: z.string(), relation, score: z.number() })),
  })
  .meta({ id: 'ToolHit' });

export function hitToWire({ tool, signature, related, ...scores }: SearchHit) {
  const { learnedShare, ...parts } = scores.parts;
  return {
    tool_id: tool.id,
    server_id: tool.server,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...(signature !== undefined && { signature }),
    semantic_score: scores.semanticScore,
    graph_score: scores.graphScore,
    final_score: scores.finalScore,
    parts: { ...parts, ...(learnedShare !== undefined && { learned_share: learnedShare }) },
    ...(scores.reasons && { reasons: scores.reasons }),
    related_tools: related.map(({ toolId, relation: how, score }) => ({
      tool_id: toolId,
      relation: how,
      score,
    })),
  };
}

export const capabilityHit = z
  .object({
    slug: z.string(),
    description: z.string(),
    /** JSON Schema. */
    parameters: z.unknown(),
    /** Likeness in meaning, times reliability. */
    score: z.number(),
    success_rate: z.number(),
    uses: z.number(),
    tools_used: z.array(z.string()),
    tools_sequence: z.array(z.string()),
  })
  .meta({ id: 'CapabilityHit' });

export function capabilityHitToWire(hit: CapabilityHit) {
  return {
    slug: hit.slug,
    description: hit.description,
    parameters: hit.parameters,
    score: hit.score,
    success_rate: hit.successRate,
    uses: hit.uses,
    tools_used: hit.toolsUsed,
    tools_sequence: hit.toolsSequence,
  };
}
