/** What a model is told about the gateway before it sees the tools. */
export function instructions(inventory: string): string {
  return [
    `PML is one door to many tools. Attached: ${inventory}`,
    '1. Search: pml_search_tools with what you want to do, in plain words. It gives tool ids and input schemas.',
    '2. Execute: pml_execute with one of these tool ids and its arguments; add intent, the goal in plain words.',
    'Several calls, or data to work on: write TypeScript and run it in one go with pml_execute and code, e.g. "const [a, b] = await Promise.all([mcp.server.tool({…}), mcp.server.other({…})]); return { a, b };". pml_search_tools with signatures: true gives the types.',
    'What worked before is kept as capabilities: find them with pml_search_capabilities, run one with pml_execute and capability, or in code as await capabilities.slug({…}).',
    'A plan of several tools: pml_execute_workflow; pml_suggest proposes one.',
    'Do not say that you lack a tool before you have searched.',
    'Status approval_required: a person has to decide; tell the user what is asked and how, then carry the run on.',
    'A result that is too large comes as a preview with a link: read pml://results/ID, or call pml_execute with tool "pml:read_result" and {"id", "offset", "limit"}.',
  ].join('\n');
}
