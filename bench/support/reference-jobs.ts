import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job, JobCall } from './scripted-agent.ts';

const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june'];
const PEOPLE = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony', 'Radia'];

/** Files of an office: notes, logs, settings, people. */
export async function writeOffice(dir: string): Promise<void> {
  for (const folder of ['notes', 'logs', 'settings']) await mkdir(join(dir, folder), { recursive: true });
  const write = (file: string, text: string) => writeFile(join(dir, file), text);
  for (const [at, month] of MONTHS.entries()) {
    const line = `In ${month} the team met ${at + 3} times and wrote down what was decided, by whom, and until when.`;
    await write(`notes/${month}.md`, `# ${month}\n\n${`${line}\n`.repeat(12)}`);
    const entry = (n: number) =>
      `2026-0${at + 1}-${10 + n} ${n % 4 === 0 ? 'ERROR disk is full' : 'INFO all is well'} on host-${n}`;
    await write(`logs/${month}.log`, Array.from({ length: 18 }, (_, n) => entry(n)).join('\n'));
  }
  const people = PEOPLE.map((name, at) => ({
    name,
    role: at % 2 === 0 ? 'engineer' : 'editor',
    years: 3 + at,
    project: ['gateway', 'ranker', 'store'][at % 3],
    about: `${name} has worked on many things and knows the house, its rooms and its people well.`,
  }));
  await write('people.json', JSON.stringify(people, null, 1));
  for (const [name, port] of [
    ['staging', 8081],
    ['production', 8080],
  ] as const)
    await write(
      `settings/${name}.json`,
      JSON.stringify({ name, port, hosts: PEOPLE, log: name === 'staging' }),
    );
  await write(
    'prices.csv',
    ['item,price', ...PEOPLE.map((name, at) => `${name}'s desk,${at * 7 + 20}`)].join('\n'),
  );
}

/** Ten jobs with the reference servers; all can be repeated. */
export function referenceJobs(dir: string): readonly Job[] {
  const at = (file: string) => join(dir, file);
  const read = (file: string): JobCall => ({
    tool: 'filesystem:read_text_file',
    arguments: { path: at(file) },
  });
  const write = (file: string, content: string): JobCall => ({
    tool: 'filesystem:write_file',
    arguments: { path: at(file), content },
  });
  const list = (folder: string): JobCall => ({
    tool: 'filesystem:list_directory',
    arguments: { path: at(folder) },
  });
  const info = (file: string): JobCall => ({
    tool: 'filesystem:get_file_info',
    arguments: { path: at(file) },
  });
  const text = (file: string) =>
    `(await mcp.filesystem.read_text_file({ path: ${JSON.stringify(at(file))} })).content`;
  const names = (folder: string) =>
    `(await mcp.filesystem.list_directory({ path: ${JSON.stringify(at(folder))} })).content.split('\\n').map((line) => line.replace('[FILE] ', ''))`;
  const each = (folder: string) => `const folder = ${JSON.stringify(at(folder))};
const files = ${names(folder)};
const texts = await Promise.all(files.map(async (name) => (await mcp.filesystem.read_text_file({ path: folder + '/' + name })).content));`;
  const people = `const people = JSON.parse(${text('people.json')});`;
  const notes = MONTHS.map((month) => read(`notes/${month}.md`));
  const logs = MONTHS.map((month) => read(`logs/${month}.log`));
  const entity = (name: string) => ({ name, entityType: 'person', observations: ['works here'] });
  return [
    {
      intent: 'Count the words of all notes together.',
      calls: [list('notes'), ...notes],
      code: `${each('notes')}\nreturn { words: texts.join(' ').split(/\\s+/).length };`,
    },
    {
      intent: 'How many errors are in each of the logs?',
      calls: [list('logs'), ...logs],
      code: `${each('logs')}\nreturn files.map((name, i) => ({ name, errors: texts[i].split('ERROR').length - 1 }));`,
    },
    {
      intent: 'Write the title of every note into titles.txt.',
      calls: [list('notes'), ...notes, write('titles.txt', MONTHS.join('\n'))],
      code: `${each('notes')}
const titles = texts.map((text) => text.split('\\n')[0].slice(2));
return await mcp.filesystem.write_file({ path: ${JSON.stringify(at('titles.txt'))}, content: titles.join('\\n') });`,
    },
    {
      intent: 'Remember all people of people.json in the knowledge graph.',
      calls: [
        read('people.json'),
        { tool: 'memory:create_entities', arguments: { entities: PEOPLE.map(entity) } },
        { tool: 'memory:read_graph', arguments: {} },
      ],
      code: `${people}
await mcp.memory.create_entities({ entities: people.map(({ name, role }) => ({ name, entityType: 'person', observations: [role] })) });
return (await mcp.memory.read_graph({})).entities.length;`,
    },
    {
      intent: 'Connect the people who work on the same project.',
      calls: [
        read('people.json'),
        {
          tool: 'memory:create_relations',
          arguments: {
            relations: PEOPLE.slice(1).map((to) => ({ from: 'Ada', to, relationType: 'works with' })),
          },
        },
        { tool: 'memory:open_nodes', arguments: { names: PEOPLE } },
      ],
      code: `${people}
const relations = people.flatMap((one, i) => people.slice(i + 1).filter((other) => other.project === one.project).map((other) => ({ from: one.name, to: other.name, relationType: 'works with' })));
await mcp.memory.create_relations({ relations });
return (await mcp.memory.open_nodes({ names: people.map(({ name }) => name) })).relations.length;`,
    },
    {
      intent: 'What differs between the settings of staging and production?',
      calls: [list('settings'), read('settings/staging.json'), read('settings/production.json')],
      code: `const [one, other] = (await Promise.all([${text('settings/staging.json')}, ${text('settings/production.json')}])).map((text) => JSON.parse(text));
return Object.keys(one).filter((key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]));`,
    },
    {
      intent: 'Find all Markdown files and tell the size of each.',
      calls: [
        { tool: 'filesystem:search_files', arguments: { path: dir, pattern: '**/*.md' } },
        ...MONTHS.map((month) => info(`notes/${month}.md`)),
      ],
      code: `const found = (await mcp.filesystem.search_files({ path: ${JSON.stringify(dir)}, pattern: '**/*.md' })).content.split('\\n');
const facts = await Promise.all(found.map((path) => mcp.filesystem.get_file_info({ path })));
return found.map((path, i) => ({ path: path.split('/').pop(), bytes: Number(/size: (\\d+)/.exec(facts[i].content)[1]) }));`,
    },
    {
      intent: 'Add up the prices and write the sum into total.txt.',
      calls: [
        read('prices.csv'),
        ...[20, 47, 81, 122, 170, 225, 287].map(
          (a): JobCall => ({
            tool: 'everything:get-sum',
            arguments: { a, b: 27 },
          }),
        ),
        write('total.txt', '356'),
      ],
      code: `const prices = ${text('prices.csv')}.split('\\n').slice(1).map((line) => Number(line.split(',')[1]));
let sum = 0;
for (const price of prices) sum = Number(/is (\\d+)/.exec(await mcp.everything['get-sum']({ a: sum, b: price }))?.[1]);
await mcp.filesystem.write_file({ path: ${JSON.stringify(at('total.txt'))}, content: String(sum) });
return sum;`,
    },
    {
      intent: 'Write one line about every engineer into engineers.txt, with what memory knows of them.',
      calls: [
        read('people.json'),
        ...['Ada', 'Edsger', 'Donald', 'Tony'].map(
          (query): JobCall => ({
            tool: 'memory:search_nodes',
            arguments: { query },
          }),
        ),
        write('engineers.txt', 'Ada, Edsger, Donald, Tony'),
      ],
      code: `${people}
const engineers = people.filter(({ role }) => role === 'engineer');
const known = await Promise.all(engineers.map(({ name }) => mcp.memory.search_nodes({ query: name })));
const lines = engineers.map(({ name }, i) => name + ': ' + known[i].entities.map(({ observations }) => observations.join(', ')).join('; '));
await mcp.filesystem.write_file({ path: ${JSON.stringify(at('engineers.txt'))}, content: lines.join('\\n') });
return lines.length;`,
    },
    {
      intent: 'When was each log last changed, and which is the largest?',
      calls: [list('logs'), ...MONTHS.map((month) => info(`logs/${month}.log`))],
      code: `const files = ${names('logs')};
const facts = await Promise.all(files.map((name) => mcp.filesystem.get_file_info({ path: ${JSON.stringify(at('logs'))} + '/' + name })));
const sizes = facts.map(({ content }) => Number(/size: (\\d+)/.exec(content)[1]));
return { changed: facts.map(({ content }) => /modified: (.*)/.exec(content)[1]), largest: files[sizes.indexOf(Math.max(...sizes))] };`,
    },
  ];
}
