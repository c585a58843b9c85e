// Calls what was learned from the first two examples, both at once, and writes one report of what they give.
const [notes, engineers] = await Promise.all([
  capabilities.summarise_notes({}),
  capabilities.remember_engineers({}),
]);

const summary = await mcp.filesystem.read_text_file({ path: 'summary.md' });
const names = engineers.entities.map((entity) => entity.name);
const content = `${summary.content}\nBy ${names.join(' and ')}\n`;
await mcp.filesystem.write_file({ path: 'report.md', content });
return { notes: notes.files, names };
