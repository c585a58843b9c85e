import { z } from 'zod';
import { scoreShares as sharesOf } from '../engine/catalogue/search.ts';
import { count } from './fields.ts';
import { operation } from './operation.ts';
import { capabilityHit, capabilityHitToWire, hitToWire, toolHit } from './shapes/search-hit.ts';

const DEFAULTS = {
  limit: 10,
  maxLimit: 100,
  /** For a model, which reads every hit. */
  modelLimit: 5,
  maxModelLimit: 50,
};

const asked = z.object({
  query: z.string().min(1).describe('What is to be done, e.g. "read a file"'),
  limit: z.int().min(1).max(DEFAULTS.maxModelLimit).default(DEFAULTS.modelLimit),
  include_related: z.boolean().default(false).describe('Also tools often used before, after or with each'),
  signatures: z.boolean().default(false).describe('Also TypeScript signatures, for code'),
  context_tools: z.array(z.string()).optional().describe('Tool ids used so far; default: the last 5'),
});

/** What a model gives. */
export type SearchToolsArguments = z.output<typeof asked>;

export const searchTools = operation({
  name: 'search_tools',
  right: 'read',
  summary: 'Tools for a job, best first, with the parts of their scores',
  input: z.strictObject({
    query: z.string({ error: 'What to search for is missing' }).min(1),
    limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
    /** Only tools of this server. */
    server: z.string().optional(),
    /** Tools used so far. */
    context_tools: z.array(z.string()).optional(),
    /** Also tools often used before, after or with each. */
    include_related: z.boolean().default(true),
    /** Also TypeScript signatures, for code. */
    signatures: z.boolean().default(false),
    /** Also why each is ranked where it is. */
    explain: z.boolean().default(false),
    /** Also capabilities that fit. */
    capabilities: z.boolean().default(false),
  }),
  output: z.object({ tools: z.array(toolHit), capabilities: z.array(capabilityHit).optional() }),
  http: { method: 'GET', path: '/search', query: { query: 'q', context_tools: 'context' } },
  mcp: {
    tool: 'pml_search_tools',
    title: 'Search tools',
    description:
      'Find the tool for a job among all attached servers: say in plain words what is to be done, get tool ids with their input schemas. Start here, then run one with pml_execute.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: asked,
    output: z.object({ tools: z.array(z.unknown()), note: z.string().optional() }),
  },
  async run({ gateway }, input, caller) {
    const { query, limit, server, context_tools: contextTools, signatures, explain } = input;
    const hits = await gateway.searchTools({
      query,
      limit,
      includeRelated: input.include_related,
      ...(signatures && { signatures }),
      ...(explain && { explain }),
      ...(server !== undefined && { server }),
      ...(contextTools && { contextTools }),
    });
    const tools = hits.map((hit) => ({ ...hitToWire(hit), ...(explain && { shares: sharesOf(hit) }) }));
    if (!input.capabilities) return { tools };
    const found = await gateway.searchCapabilities(query, limit, caller);
    // A capability belongs to no server: those that call tools of the one asked for are given.
    const wanted = found.filter(
      ({ toolsUsed }) => server === undefined || toolsUsed.some((tool) => tool.startsWith(`${server}:`)),
    );
    return { tools, capabilities: wanted.map(capabilityHitToWire) };
  },
});
