// Reads people from a file, joins the engineers in the knowledge graph, and reads back what is known of them.
const file = await mcp.filesystem.read_text_file({ path: 'people.json' });
const people: { name: string; role: string; years: number }[] = JSON.parse(file.content);
const names = people.filter((person) => person.role === 'engineer').map((person) => person.name);

const relations = names.slice(1).map((name) => ({ from: names[0], to: name, relationType: 'works with' }));
await mcp.memory.create_relations({ relations });
const observations = names.map((name) => ({ entityName: name, contents: ['writes the weekly report'] }));
await mcp.memory.add_observations({ observations });
return await mcp.memory.open_nodes({ names });
