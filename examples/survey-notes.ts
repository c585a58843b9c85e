// Lists the notes and asks about all of them at once; the largest comes first.
const listing = await mcp.filesystem.list_directory({ path: 'notes' });
const names = listing.content
  .split('\n')
  .filter((line) => line.startsWith('[FILE]'))
  .map((line) => line.slice('[FILE] '.length));

const facts = await Promise.all(names.map((name) => mcp.filesystem.get_file_info({ path: `notes/${name}` })));
const sizes = facts.map((fact, i) => ({
  name: names[i],
  bytes: Number(/size: (\d+)/.exec(fact.content)?.[1]),
}));
return sizes.sort((a, b) => b.bytes - a.bytes);
