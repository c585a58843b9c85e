import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTurns, taughtGateway, wordings } from '../support/taught-gateway.ts';

const SAID = 'Apples are picked in the northern orchard.';

const COPY = `const { content } = await mcp.filesystem.read_text_file({ path: args.from });
return await mcp.filesystem.write_file({ path: args.to, content });`;
const MAKE_ROOM = `await mcp.filesystem.list_directory_with_sizes({ path: args.look });
return await mcp.filesystem.create_directory({ path: args.shelf });`;

interface Learned {
  readonly slug: string;
  readonly origin: 'whole' | 'part';
  readonly state: string;
  readonly tools_used: readonly string[];
}

/** A job as it was done before, and what shows that it was done again. */
interface Job {
  readonly intent: string;
  /** What does it, or what a part of jobs in its place calls; named as the plan names it. */
  readonly by: string;
  readonly isDone: () => Promise<boolean>;
  readonly undo: () => Promise<void>;
  /** Of the plan's inputs, whatever they are called. */
  readonly values: (input: string) => string;
}

test('[INTENT-6] [ORIGIN-1] with a real gateway: an intent does not start work that writes until permissions.auto names it', async () => {
  const gateway = await taughtGateway({ allow: ['filesystem:write_file'] });
  const { dir, post, get, learnedFrom } = gateway;
  const [notes, report, folder, shelf] = ['notes', 'report.txt', 'archive', 'photographs'].map((name) =>
    join(dir, name),
  ) as [string, string, string, string];
  const note = join(notes, 'a.txt');
  await mkdir(notes);
  await writeFile(note, SAID);
  const execute = async (body: object) =>
    expect(await post('/api/execute', body)).toMatchObject({ status: 'success' });
  const slugOf = async (part: string) => {
    const { capabilities } = await get('/api/capabilities');
    const known = (capabilities as Learned[]).filter(
      ({ state, origin }) => state === 'active' && origin === 'whole',
    );
    return known.find(({ slug }) => slug.includes(part))?.slug;
  };

  // Within another: the inner one alone went wrong now and then, so that the outer one is what is relied on.
  const copied = { arguments: { from: note, to: report } };
  for (const day of ['today', 'tomorrow'])
    await execute({ code: COPY, intent: `duplicate the text for ${day}`, ...copied });
  await expect.poll(() => slugOf('duplicate'), { timeout: 60_000 }).toBeTruthy();
  const inner = await slugOf('duplicate');
  const outer = `const done = await capabilities.${inner}({ from: args.from, to: args.to });
return Object.keys(done).map((key) => key.length);`;
  const nested = wordings('write the report of the northern orchard', 30);
  await inTurns(nested, (intent) => execute({ code: outer, intent, ...copied }));
  for (let times = 0; times < 3; times++) {
    const lost = { capability: inner, arguments: { from: join(notes, 'lost.txt'), to: report } };
    expect(await post('/api/execute', lost)).toMatchObject({ status: 'error' });
  }

  const alone = wordings('look through the attic and make room for old photographs', 30);
  await inTurns(alone, (intent) => execute({ code: MAKE_ROOM, intent, arguments: { look: notes, shelf } }));

  const planned = wordings('see what lies in the cellar and lay out the archive', 30);
  const workflow = {
    tasks: [
      { id: 'a', tool: 'filesystem:list_directory', arguments: { path: notes } },
      { id: 'b', tool: 'filesystem:create_directory', arguments: { path: folder }, depends_on: ['a'] },
    ],
  };
  await inTurns(planned, async (intent) =>
    expect(await post('/api/workflows', { workflow, intent })).toMatchObject({ status: 'success' }),
  );
  await learnedFrom(92);

  const makes = (path: string) => ({
    isDone: () =>
      access(path).then(
        () => true,
        () => false,
      ),
    undo: () => rm(path, { recursive: true, force: true }),
  });
  const jobs: Job[] = [
    {
      intent: nested[3]!,
      by: (await slugOf('report')) ?? '',
      isDone: async () => (await readFile(report, 'utf8')) === SAID,
      undo: () => writeFile(report, 'kept by a person'),
      values: (input) => (input.endsWith('from') ? note : report),
    },
    {
      intent: alone[3]!,
      // Attic and photographs are only the user's words, and not part of the name.
      by: (await slugOf('directory')) ?? '',
      ...makes(shelf),
      values: (input) => (input.endsWith('look') ? notes : shelf),
    },
    {
      intent: planned[3]!,
      by: 'filesystem:create_directory',
      ...makes(folder),
      values: (input) => (input === 'path' ? notes : folder),
    },
  ];
  const ask = async ({ intent, values }: Job) => {
    const { plan } = await post('/api/suggest', { intent });
    const inputs = (plan.inputs as { name: string }[]).map(({ name }) => [name, values(name)]);
    return await post('/api/execute', { intent, arguments: Object.fromEntries(inputs) });
  };
  for (const job of jobs) {
    await job.undo();
    // Plans are learned again while runs come in: until they are sure, that is one more reason.
    let asked = await ask(job);
    await expect
      .poll(
        async () => {
          asked = await ask(job);
          return asked.why_not_run;
        },
        { timeout: 60_000 },
      )
      .toEqual([expect.stringContaining('may change something')]);
    const { capabilities } = await get('/api/capabilities');
    const callsOf = (slug: string) =>
      (capabilities as Learned[]).find((one) => one.slug === slug && one.origin === 'part')?.tools_used ?? [];
    const does = asked.plan.tasks.flatMap(({ tool, capability = '' }: Record<string, string>) =>
      tool === undefined ? [capability, ...callsOf(capability)] : [tool],
    );
    expect(does).toContain(job.by);
    expect(asked).toMatchObject({
      status: 'suggestion',
      how_to_run: expect.stringContaining(asked.suggestion_id),
    });
    expect(await job.isDone()).toBe(false);
  }
  for (const intent of ['what is the weather in Paris', 'delete the report', 'do not write the report']) {
    const asked = await post('/api/execute', {
      intent,
      arguments: { from: note, to: report, path: folder, create_directory_path: folder },
    });
    expect(asked).toMatchObject({ status: 'suggestion' });
    for (const { isDone } of jobs) expect(await isDone()).toBe(false);
  }

  await gateway.permit({
    allow: ['filesystem:write_file'],
    auto: ['filesystem:write_file', 'filesystem:create_directory'],
  });
  for (const job of jobs) {
    await expect.poll(async () => (await ask(job)).status).toBe('success');
    expect(await job.isDone()).toBe(true);
  }
  // A run answers before its trace is stored.
  await expect
    .poll(async () =>
      (await get('/api/traces?limit=3')).traces.map(({ origin }: { origin: string }) => origin),
    )
    .toEqual(['self', 'self', 'self']);
}, 300_000);
