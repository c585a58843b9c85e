// Reads people from a file, keeps the engineers, and stores them in the knowledge graph.
const file = await mcp.filesystem.read_text_file({ path: 'people.json' });
const people: { name: string; role: string; years: number }[] = JSON.parse(file.content);
const engineers = people.filter((person) => person.role === 'engineer');

await mcp.memory.create_entities({
  entities: engineers.map((person) => ({
    name: person.name,
    entityType: 'person',
    observations: [`${person.years} years as ${person.role}`],
  })),
});
return await mcp.memory.search_nodes({ query: 'engineer' });
