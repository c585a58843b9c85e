import { driftReason, readsField } from '../../core/capabilities/quarantine.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import { isJsonObject } from '../../core/vocabulary/read-wire.ts';
import type { Background } from '../background.ts';
import type { Caller } from '../caller.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ToolDrift } from '../catalogue/observed-outputs.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Capability } from '../ports.ts';
import { playLive, whyNotLive } from '../runs/replay-run.ts';
import { ofOneRun } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import { type CapabilityRegistry, quarantined } from './capability-registry.ts';
import { definitionsOf } from './learn-capability.ts';
import { type Case, failureText, isOutOfReach, type Prover } from './prove-capability.ts';
import { admitting, type ChangedRoutine, healed } from './quarantine-changed.ts';

const DEFAULTS = {
  /** Capabilities that are run again for one change, and recorded runs of each. */
  routines: 10,
  cases: 2,
  /** Of one such run, in milliseconds, and calls beyond those that were recorded. */
  wallMs: 10_000,
  moreCalls: 5,
  /** Levels of a result that are compared. */
  depth: 6,
};

/** Nobody asked for it. */
const RETESTER: Caller = { sessionId: null, origin: 'replay' };

interface RetesterParts {
  readonly ports: Pick<FlowPorts, 'logger'>;
  readonly background: Background;
  readonly capabilities: CapabilityRegistry;
  readonly prover: Pick<Prover, 'test' | 'cases'>;
  readonly scope: () => RunScope;
  readonly catalogue: () => Catalogue;
  readonly drifts: () => readonly ToolDrift[];
}

/** What running a capability again has shown. */
interface Verdict {
  /** `same`: as if nothing had changed; `broken`: it no longer does what it did; `open`: neither is certain. */
  readonly is: 'same' | 'broken' | 'open';
  /** For people. */
  readonly words: string;
}

/**
 * After a change of tools: what rests on them is run on its recordings and, where all that it calls only reads, on the
 * servers as they are now. What does the same as before may be called, what no longer works may not, and a person is told
 * either way. Each change is looked at once.
 */
export function createRetester(parts: RetesterParts): (changed: readonly ChangedRoutine[]) => void {
  const { background, ports } = parts;
  const underWay = new Set<string>();
  return (changed) => {
    const fresh = changed.filter(({ capability, changes }) => !underWay.has(`${capability.id} ${changes}`));
    if (fresh.length === 0) return;
    for (const { capability, changes } of fresh) underWay.add(`${capability.id} ${changes}`);
    background.run('Running capabilities on changed tools again', async (signal) => {
      for (const [i, one] of fresh.entries()) {
        if (signal.aborted) break;
        const verdict = await judged(parts, one, i < DEFAULTS.routines, signal);
        const now = await settle(parts, one, verdict);
        underWay.delete(`${one.capability.id} ${one.changes}`);
        if (now)
          ports.logger.log('warn', `A tool of ${now.slug} changed: ${verdict.words}`, {
            capability: now.slug,
            state: now.state,
            changes: now.evidence.quarantinedBecause ?? one.changes,
          });
      }
    });
  };
}

async function judged(
  parts: RetesterParts,
  { capability, isRedefined }: ChangedRoutine,
  mayRun: boolean,
  signal: AbortSignal,
): Promise<Verdict> {
  const { prover } = parts;
  const live = mayRun ? await runAgain(parts, capability, signal) : null;
  if (!isRedefined)
    return live ?? { is: 'open', words: 'not run again: too many capabilities use the same tool' };
  if (live && live.is !== 'open') return live;
  const { status, cases, problems } = await prover.test(capability);
  const failed = cases.find(({ difference }) => difference !== null);
  const told =
    status === 'passed'
      ? 'its recorded runs work with the new definition'
      : status === 'failed'
        ? (problems[0] ?? failureText(failed!))
        : 'none of its runs was recorded in full';
  return { is: 'open', words: live ? `${told}; ${live.words}` : told };
}

/** Repeats its recorded runs on the servers; a private capability is not run for others. */
async function runAgain(
  { scope, prover, drifts }: RetesterParts,
  capability: Capability,
  signal: AbortSignal,
): Promise<Verdict> {
  if (capability.visibility === 'private') return { is: 'open', words: 'not run again: it is private' };
  const cases = (await prover.cases(capability)).slice(0, DEFAULTS.cases);
  if (cases.length === 0)
    return { is: 'open', words: 'not run again: none of its runs was recorded in full' };
  const fields = drifts()
    .filter(({ tool }) => (capability.toolsUsed as readonly string[]).includes(tool))
    .flatMap(({ changes }) => changes.map(({ field }) => field));
  const isNamed = (name: string) => readsField(`${capability.code} ${fields.join(' ')}`, [name]);
  const found: CaseVerdict[] = [];
  for (const one of cases) {
    const verdict = await caseAgain(ofOneRun(scope()), capability, one, isNamed, signal);
    if (verdict.is === 'not run') return { is: 'open', words: `not run again: ${verdict.why}` };
    if (verdict.is === 'broken') return { is: 'broken', words: `run again, ${verdict.why}` };
    found.push(verdict);
  }
  const times = found.length === 1 ? 'once' : `${found.length} times`;
  const results = new Set(cases.map(({ recording }) => canonicalJson(recording.result)));
  // The same result of other answers may be chance, unless the runs differ in it.
  const isProven = found.every(({ is }) => is === 'same') || (allGave(found) && results.size > 1);
  if (isProven) return { is: 'same', words: `run again ${times}, it works as before` };
  return {
    is: 'open',
    words: allGave(found)
      ? `run again ${times}, it returns the same from different answers`
      : `run again ${times}, it works but returns other values`,
  };
}

function allGave(found: readonly CaseVerdict[]): boolean {
  return found.every(({ is }) => is === 'same' || is === 'same result');
}

interface CaseVerdict {
  readonly is: 'same' | 'same result' | 'works' | 'broken' | 'not run';
  readonly why: string;
}

async function caseAgain(
  scope: RunScope,
  capability: Capability,
  { recording, isArranged = false }: Case,
  isNamed: (field: string) => boolean,
  signal: AbortSignal,
): Promise<CaseVerdict> {
  const why = await whyNotLive(scope, recording).catch((error: unknown) => String(error));
  if (why !== null) return { is: 'not run', why };
  const { settings } = scope;
  const callsTotal = Math.min(settings.sandbox.callsTotal, recording.calls.length + DEFAULTS.moreCalls);
  const bounded = { ...scope, settings: { ...settings, sandbox: { ...settings.sandbox, callsTotal } } };
  const program = { ...recording.program, timeoutMs: DEFAULTS.wallMs };
  const { made, calls, end, isReached } = await playLive(
    bounded,
    { ...recording, program },
    capability.intentText,
    { ...RETESTER, signal },
  );
  if (!isReached || made.kind === 'waiting')
    return { is: 'not run', why: 'one of its servers is not available now' };
  if (made.kind === 'failed')
    return isOutOfReach(made)
      ? { is: 'not run', why: `it was stopped: ${made.error.message}` }
      : { is: 'broken', why: `it fails: ${made.error.message}` };
  if (end === null && !isArranged) return { is: calls === null ? 'same' : 'same result', why: '' };
  const lost = lostIn(recording.result, made.value, isNamed);
  return lost === null ? { is: 'works', why: '' } : { is: 'broken', why: lost };
}

/**
 * What a result no longer has, or has with a different type; null: nothing. Of fields only those with a name that the
 * program or the change knows: others may be data.
 */
function lostIn(
  before: unknown,
  now: unknown,
  isNamed: (field: string) => boolean,
  path = '',
): string | null {
  if (before === null || before === undefined || path.split('.').length > DEFAULTS.depth) return null;
  const place = path === '' ? 'its result' : `"${path}" of its result`;
  if (now === null || now === undefined) return `${place} is missing`;
  if (kindOfValue(before) !== kindOfValue(now))
    return `${place} was a ${kindOfValue(before)} and is a ${kindOfValue(now)} now`;
  if (Array.isArray(before)) {
    const [a, b] = [before[0], (now as readonly unknown[])[0]];
    return a === undefined || b === undefined ? null : lostIn(a, b, isNamed, `${path}[]`);
  }
  if (!isJsonObject(before)) return null;
  for (const [name, value] of Object.entries(before)) {
    if (!isNamed(name)) continue;
    const own = (now as Readonly<Record<string, unknown>>)[name];
    const lost = lostIn(value, own, isNamed, path === '' ? name : `${path}.${name}`);
    if (lost !== null) return lost;
  }
  return null;
}

function kindOfValue(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : typeof value;
}

/** Null where it was changed or removed meanwhile, by a person or another gateway. */
async function settle(
  { capabilities: registry, catalogue }: RetesterParts,
  { capability, isRedefined, changes }: ChangedRoutine,
  { is, words }: Verdict,
): Promise<Capability | null> {
  return await registry.change(async () => {
    const now = registry.get(capability.id);
    if (!now || now.state !== capability.state || now.code !== capability.code) return null;
    const told = { ...now, evidence: { ...now.evidence, retested: words, retestedFor: changes } };
    if (is === 'same' && now.state === 'quarantined' && now.evidence.heals) {
      const known = admitting(told);
      const tools = Object.keys(known.evidence.definitionHashes);
      // One that came meanwhile was not run with.
      if (tools.some((tool) => catalogue().get(tool as ToolId)?.proposed)) return await registry.put(told);
      const definitionHashes = definitionsOf(tools, catalogue());
      return await registry.put(healed({ ...known, evidence: { ...known.evidence, definitionHashes } }));
    }
    if (is === 'same' && !isRedefined) return await registry.put(admitting(told));
    if (is !== 'broken' || now.state === 'quarantined') return await registry.put(told);
    const drift = (now.evidence.drift ?? []).map((mark) =>
      mark.state === 'marked' ? { ...mark, state: 'broken' as const } : mark,
    );
    const broken = { ...told, evidence: { ...told.evidence, drift, recent: [] } };
    return await registry.put(quarantined(broken, driftReason(drift) ?? words, true));
  });
}
