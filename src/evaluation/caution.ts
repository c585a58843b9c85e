import { mean } from '../core/learning/gate/metrics.ts';
import { type PermissionRules, whyNotByItself } from '../core/policy/decide.ts';
import type { CautionFigures } from '../core/vocabulary/evaluation-report.ts';
import type { ToolId } from '../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../core/vocabulary/tool-definition.ts';
import type { Task } from './data-set.ts';
import type { Fold } from './folds.ts';
import { createDrafter, type ScoredPlan, scorePlans } from './plan-quality.ts';
import { openSchool } from './rank-by-model.ts';
import { type EvaluationPorts, openWorkbench, type Workbench, weightsFor } from './workbench.ts';
import { WRITTEN_JOBS } from './written-opposites.ts';

/** A small office: each recurring job has a tool, and there are others that do the opposite or something similar. */
const DESCRIPTIONS: Readonly<Record<string, readonly [description: string, ...parameters: string[]]>> = {
  'invoices:send_invoice': ['Send an invoice for a month to a customer by e-mail', 'customer', 'month'],
  'invoices:void_invoice': ['Void an invoice that was already issued, so that it need not be paid', 'number'],
  'invoices:list_invoices': [
    'List invoices by customer, month and whether they were paid',
    'customer',
    'month',
  ],
  'invoices:refund_payment': ['Pay money back to a customer who has paid an invoice', 'number', 'amount'],
  'invoices:send_reminder': ['Remind a customer of an invoice that is overdue', 'number'],
  'reports:write_report': ['Write the report of what the team did in a week', 'week', 'team'],
  'reports:delete_report': ['Delete a report for good', 'report_id'],
  'reports:share_report': ['Give other people access to a report that is there', 'report_id', 'people'],
  'reports:read_report': ['Read the text of a report', 'report_id'],
  'rooms:book_room': ['Book a meeting room for a time', 'room', 'start', 'end'],
  'rooms:cancel_booking': ['Cancel the booking of a meeting room', 'booking_id'],
  'rooms:list_free_rooms': ['List meeting rooms that are free at a time', 'start', 'end', 'seats'],
  'rooms:move_booking': ['Move the booking of a meeting room to another time', 'booking_id', 'start'],
  'tickets:add_ticket': ['Add a ticket to the issue tracker', 'title', 'body', 'project'],
  'tickets:close_ticket': ['Close a ticket as done or as not to be done', 'ticket_id', 'reason'],
  'tickets:delete_ticket': ['Delete a ticket and its comments from the issue tracker', 'ticket_id'],
  'tickets:assign_ticket': ['Make somebody responsible for a ticket', 'ticket_id', 'person'],
  'database:back_up': ['Write a backup of a database into the storage', 'database'],
  'database:restore_backup': ['Overwrite a database with what is in a backup', 'database', 'backup_id'],
  'database:delete_backup': ['Delete a backup of a database from the storage', 'backup_id'],
  'database:drop_database': ['Drop a whole database with all of its tables', 'database'],
  'deploy:deploy_service': [
    'Deploy a version of a service to staging or production',
    'service',
    'stage',
    'version',
  ],
  'deploy:roll_back': ['Roll a service back to the version before', 'service', 'stage'],
  'deploy:stop_service': ['Stop a running service on staging or production', 'service', 'stage'],
  'deploy:service_status': [
    'Tell which version of a service runs where, and whether it is healthy',
    'service',
  ],
  'mail:send_message': ['Send an e-mail with a subject and a text', 'to', 'subject', 'text'],
};

export const WRITTEN_TOOLS: readonly ToolDefinition[] = Object.entries(DESCRIPTIONS).map(
  ([id, [description, ...parameters]]) => {
    const [server, name] = id.split(':') as [string, string];
    const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }]));
    return {
      id: id as ToolId,
      server,
      name,
      description,
      inputSchema: { type: 'object', properties },
      definitionHash: id,
    };
  },
);

const DEFAULTS = {
  /** A plan with a lower node F1 is wrong, and should not have a confidence above `sure`. */
  wrong: 0.5,
  sure: 0.5,
};

const READ_ONLY = { id: 'any:tool' as ToolId, annotations: { readOnlyHint: true } };
const RULES: PermissionRules = {
  allow: [],
  ask: [],
  deny: [],
  default: 'allow',
  profile: 'balanced',
  auto: [],
};

type Opposites = NonNullable<CautionFigures['opposites']>;

/** How plans for distant tasks, and the ranking of never-used tools, hold up on unseen work. */
export function cautionOf(
  plans: readonly ScoredPlan[],
  neverUsed: CautionFigures['never_used'],
  opposites: Opposites | null,
): CautionFigures {
  const made = plans.filter(({ tools }) => tools.length > 0);
  return {
    plans: made.length,
    ...rashnessOf(made),
    longest_plan: Math.max(0, ...made.map(({ tools }) => tools.length)),
    opposites,
    never_used: neverUsed,
  };
}

/** An empty plan counts as neither sure nor run, whatever its confidence. */
function rashnessOf(plans: readonly ScoredPlan[]): Pick<CautionFigures, 'wrong_above_half' | 'would_run'> {
  const made = plans.filter(({ tools }) => tools.length > 0);
  const isWrongAndSure = ({ nodeF1, confidence }: ScoredPlan) =>
    nodeF1 < DEFAULTS.wrong && confidence > DEFAULTS.sure;
  return {
    wrong_above_half: made.filter(isWrongAndSure).length,
    would_run: made.filter(wouldRun).length,
  };
}

/** As if every tool were marked read-only and every value known, so that only confidence and support decide. */
function wouldRun({ tools, confidence, support }: ScoredPlan): boolean {
  const step = {
    name: READ_ONLY.id,
    calls: [{ tool: READ_ONLY, verdict: { action: 'allow', reason: '' } }],
  } as const;
  return (
    whyNotByItself(RULES, { steps: tools.map(() => step), confidence, support, missing: [] }).length === 0
  );
}

/** MRR of the first never-used correct tool, over the tasks that have one. `ranks` are those of all measured tasks. */
export function rankNeverUsed(
  bench: Workbench,
  folds: readonly Fold[],
  ranks: Readonly<Record<'learned' | 'hybrid', readonly (readonly number[])[]>>,
): CautionFigures['never_used'] {
  const unused = folds.flatMap(({ train, test }) => {
    const used = new Set(train.flatMap((task) => bench.placesOf(task)));
    return test.map((task) =>
      bench.goldOf(task).map((accepted) => !accepted.some((place) => used.has(place))),
    );
  });
  const mrrOf = (ranker: 'learned' | 'hybrid') =>
    mean(
      unused.flatMap((isUnused, task) => {
        const first = Math.min(...ranks[ranker][task]!.filter((_, tool) => isUnused[tool]));
        return isUnused.includes(true) ? [1 / first] : [];
      }),
    );
  return {
    n: unused.filter((isUnused) => isUnused.includes(true)).length,
    learned_mrr: mrrOf('learned'),
    hybrid_mrr: mrrOf('hybrid'),
  };
}

/**
 * After a past of six recurring jobs: intents that read like one of them and mean something else ("do not send …",
 * "cancel …", another verb or another object). On a small catalogue that ships with PML, since no data set has these.
 */
export async function measureOpposites(seed: number, ports: EvaluationPorts): Promise<Opposites> {
  const train = WRITTEN_JOBS.flatMap(({ name, tool, past }) =>
    past.map((intent) => written(name, intent, [tool])),
  );
  const test = WRITTEN_JOBS.flatMap(({ name, opposites }) =>
    opposites.map(([intent, ...tools]) => written(`not ${name}`, intent, tools)),
  );
  const data = { name: 'written', split: 'opposites', tools: WRITTEN_TOOLS, train, test, isRecorded: false };
  const bench = await openWorkbench(data, [...train, ...test], ports);
  const school = openSchool(bench, { weights: weightsFor(data.name), alike: ({ id }) => id, seed });
  const plans = await scorePlans(bench, createDrafter(school), [{ train, test }]);
  return { n: plans.length, ...rashnessOf(plans) };
}

function written(group: string, intent: string, tools: readonly string[]): Task {
  return {
    id: intent,
    intent,
    tools,
    group,
    alternatives: {},
    isOrdered: true,
    edges: [],
    isParallel: false,
  };
}
