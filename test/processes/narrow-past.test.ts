import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { mean } from '../../src/core/learning/gate/metrics.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import { WRITTEN_TOOLS } from '../../src/evaluation/caution.ts';
import { WRITTEN_JOBS } from '../../src/evaluation/written-opposites.ts';
import { startToolsFixture } from '../fixtures/servers/tools-server.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { type AskedPlan, askFor, type Question, reciprocalRanks } from '../support/ask-for-work.ts';
import { callTool } from '../support/mcp-endpoints.ts';
import { referenceServers } from '../support/mcp-reference-servers.ts';
import { inTurns, taughtGateway } from '../support/taught-gateway.ts';

type Job = (typeof WRITTEN_JOBS)[number];

/** All six in a full proof, each with a seed of its own. */
const JOBS = WRITTEN_JOBS.slice(-proofRuns(WRITTEN_JOBS.length)).map((job, i) => ({
  ...job,
  seed: proofSeed() + i,
}));
/** At least as many as it takes to learn plans from. */
const RUNS = Math.max(30, proofRuns(45));
const ASKED = Math.max(12, proofRuns(40));
const PARAMETER: Readonly<Record<string, string>> = {
  'invoices:send_invoice': 'customer',
  'reports:write_report': 'team',
  'rooms:book_room': 'room',
  'tickets:add_ticket': 'body',
  'database:back_up': 'database',
  'deploy:deploy_service': 'service',
};

/** The one job that is ever done, as an agent wrote it: it leaves a file behind. */
const programOf = ({
  tool,
}: Job) => `const { content } = await mcp.filesystem.read_text_file({ path: args.notes });
const { entities } = await mcp.memory.read_graph({});
const about = entities.map(({ name }) => name).join();
const done = await mcp.${tool.replace(':', '.')}({ ${PARAMETER[tool]}: about });
return await mcp.filesystem.write_file({ path: args.report, content: content + JSON.stringify(done) });`;
const ENDINGS = [', please', ' today', ' as usual', ' once more', ' before noon', ' for Bob', ' in English'];

/** One for each tool that the jobs' programs do not call besides. */
const FOREIGN: Readonly<Record<string, string>> = {
  'invoices:send_invoice': 'bill Carla for what she bought in May',
  'invoices:void_invoice': 'invoice 17 was a mistake, make it void',
  'invoices:list_invoices': 'which invoices has Dora not paid yet?',
  'invoices:refund_payment': 'give Eve her money back for invoice 12',
  'invoices:send_reminder': 'Frank still has not paid, remind him of his invoice',
  'reports:write_report': 'sum up what the team did this week',
  'reports:delete_report': 'get rid of report 7 for good',
  'reports:share_report': 'let Alice see report 7 as well',
  'reports:read_report': 'what does report 7 say?',
  'rooms:book_room': 'reserve the large meeting room from two to three',
  'rooms:cancel_booking': 'we do not need the meeting room after all, cancel it',
  'rooms:list_free_rooms': 'is any meeting room free at noon?',
  'rooms:move_booking': 'put our meeting room off by an hour',
  'tickets:add_ticket': 'open a ticket for the crash at login',
  'tickets:close_ticket': 'ticket 44 is done, close it',
  'tickets:delete_ticket': 'delete ticket 45 with its comments',
  'tickets:assign_ticket': 'Bob should take care of ticket 46',
  'database:back_up': 'back up the orders database',
  'database:restore_backup': 'bring the orders database back from its last backup',
  'database:delete_backup': 'throw away the oldest backup of the database',
  'database:drop_database': 'drop the test database with all its tables',
  'deploy:deploy_service': 'ship version 2.1 of billing to production',
  'deploy:roll_back': 'go back to the version of billing before this one',
  'deploy:stop_service': 'shut billing down on staging',
  'deploy:service_status': 'is billing healthy?',
  'mail:send_message': 'send Grace an e-mail and wish her a happy birthday',
  'filesystem:create_directory': 'make a new folder for photographs',
  'filesystem:directory_tree': 'show me the folder with everything below it as a tree',
  'filesystem:edit_file': 'replace the third line of config.txt',
  'filesystem:get_file_info': 'when was this file last modified, and how large is it?',
  'filesystem:list_allowed_directories': 'which directories may you access?',
  'filesystem:move_file': 'rename a.txt to b.txt',
  'filesystem:read_media_file': 'load the picture logo.png',
  'filesystem:search_files': 'find all files whose name ends in .md',
  'memory:create_entities': 'remember Heidi as a new person in the knowledge graph',
  'memory:create_relations': 'Heidi works with Ivan: relate the two entities',
  'memory:delete_entities': 'remove the entity Ivan from the knowledge graph',
  'memory:delete_observations': 'forget the observation that Heidi likes tea',
  'memory:delete_relations': 'Heidi and Ivan are not related any more, delete the relation',
  'memory:open_nodes': 'open the nodes Heidi and Ivan by name',
  'memory:search_nodes': 'search the knowledge graph for nodes about tea',
};
/** The tool of the job itself is not foreign to it. */
const foreignTo = ({ tool }: Job): Question[] =>
  Object.entries(FOREIGN).flatMap(([id, intent]) => (id === tool ? [] : [{ intent, tools: [id] }]));
const READS = new Set([
  'invoices:list_invoices',
  'reports:read_report',
  'rooms:list_free_rooms',
  'deploy:service_status',
]);

/** Led by the same words as ever, and yet not to be done now. */
const TURNED = ['? Certainly not', ' only if I say so', ', but not today', ' to the bin'];

/** Plans with their problems, so that a failure shows all of them. */
const told = (plans: readonly AskedPlan[]) =>
  plans.map(({ intent, does, confidence }) => `${intent}: ${does.join(', ')} (${confidence.toFixed(2)})`);

test.each(JOBS)(
  '[HARM-1] [HARM-2] [HARM-3] after a past of one job ($name, seed $seed), other questions are answered as before, and nothing runs',
  async (job) => {
    const fixture = await startToolsFixture(
      WRITTEN_TOOLS.map((tool) => ({ ...tool, annotations: { readOnlyHint: READS.has(tool.id) } })),
    );
    onTestFinished(fixture.close);
    // The owner lets everything run by itself: what is left to stop a plan is how much it rests on.
    const gateway = await taughtGateway({ allow: ['*'], auto: ['*'] }, (dir) => {
      const { filesystem, memory } = referenceServers(dir);
      return { filesystem: filesystem!, memory: memory!, ...fixture.servers };
    });
    const { dir } = gateway;
    const folder = join(dir, 'notes');
    const [notes, report] = [join(folder, 'week.txt'), join(folder, 'report.txt')];
    await mkdir(folder);
    await writeFile(notes, 'The northern orchard was pruned by ');
    const random = createRandom(job.seed);
    const foreign = random.shuffle(foreignTo(job)).slice(0, ASKED);
    const turned = job.past.flatMap((intent) =>
      TURNED.map((end): Question => ({ intent: intent + end, tools: [] })),
    );
    const opposites = [
      ...job.opposites.map(([intent, ...tools]): Question => ({ intent, tools })),
      ...random.shuffle(turned).slice(0, Math.max(6, proofRuns(turned.length))),
    ];
    const newcomer = await gateway.connect();
    // Found by their meaning, too: until then search is worse than it will be.
    await expect.poll(() => embeddedTools(newcomer), { timeout: 60_000 }).toBe(49);
    const before = mean(await reciprocalRanks(newcomer, foreign));

    const more = ENDINGS.flatMap((ending) => job.past.map((intent) => `${intent}${ending}`));
    const taught = [...job.past, ...random.shuffle(more)].slice(0, RUNS);
    const worker = await gateway.connect();
    const code = programOf(job);
    await inTurns(taught, async (intent) => {
      const made = await callTool(worker, 'pml_execute', { code, intent, arguments: { notes, report } });
      expect(made.structuredContent).toMatchObject({ status: 'success' });
    });
    await gateway.learnedFrom(taught.length);
    const client = await gateway.connect();
    const valueFor = (input: string) => (input.includes('notes') ? notes : report);
    const ask = async (questions: readonly Question[]) => {
      const plans: AskedPlan[] = [];
      for (const question of questions) plans.push(await askFor(client, question, valueFor));
      return plans;
    };
    // The job itself still works, however it is worded.
    const own = job.past.map((intent) => ({ intent, tools: [] }));
    await ask(own.slice(0, 1));
    await gateway.learnedPlans();
    expect(told((await ask(own)).filter(({ status }) => status !== 'success'))).toEqual([]);

    await rm(report);
    const calls = fixture.calls.length;
    const after = mean(await reciprocalRanks(client, foreign));
    const plans = await ask(foreign);
    const opposed = await ask(opposites);
    const asked = [...plans, ...opposed];
    expect(told(asked.filter(({ status }) => status !== 'suggestion'))).toEqual([]);
    expect(fixture.calls.slice(calls)).toEqual([]);
    await expect(access(report)).rejects.toThrow('ENOENT');

    expect(after).toBeGreaterThanOrEqual(before - 0.01);
    const sure = (some: readonly AskedPlan[]) => some.filter(({ confidence }) => confidence > 0.5);
    expect(told(sure(plans).filter(({ isWrong }) => isWrong)).slice(1)).toEqual([]);
    expect(told(asked.filter(({ does }) => does.length > 12))).toEqual([]);
    expect(told(sure(opposed))).toEqual([]);
  },
  300_000,
);

async function embeddedTools(client: Client): Promise<number> {
  const { structuredContent } = await callTool(client, 'pml_search_tools', { query: 'report', limit: 50 });
  const tools = structuredContent.tools as readonly { semantic_score: number }[];
  return tools.filter(({ semantic_score }) => semantic_score !== 0).length;
}
