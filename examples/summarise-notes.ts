// Lists the notes, reads them in parallel, and writes one summary file.
const listing = await mcp.filesystem.list_directory({ path: 'notes' });
const names = listing.content
  .split('\n')
  .filter((line) => line.startsWith('[FILE]'))
  .map((line) => line.slice('[FILE] '.length));

const notes = await Promise.all(names.map((name) => mcp.filesystem.read_text_file({ path: `notes/${name}` })));
const headings = notes.map((note) => note.content.split('\n')[0]);

await mcp.filesystem.write_file({ path: 'summary.md', content: `${headings.join('\n')}\n` });
return { files: names.length, headings };
