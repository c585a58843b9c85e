/** What a model is told about the gateway before it sees the tools. */
export function instructions(inventory: string): string {
  return [
    `PML is one door to many tools. Attached: ${inventory}`,
    '1. Search: pml_search_tools with what you want to do, in plain words. It gives tool ids and input schemas.',
    '2. Execute: pml_execute with one of these tool ids and its arguments; add intent, the goal in plain words.',
    'Several steps at once: pml_execute_workflow; pml_suggest proposes one.',
    'Do not say that you lack a tool before you have searched.',
    'Status approval_required: a person has to decide; tell the user what is asked and how, then carry the run on.',
    'A result that is too large comes as a preview with a link: read pml://results/ID, or call pml_execute with tool "pml:read_result" and {"id", "offset", "limit"}.',
  ].join('\n');
}
