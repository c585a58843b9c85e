import type { Statement, SwitchCase, SwitchStatement, TryStatement } from 'oxc-parser';
import type { Analysis } from './analysis.ts';
import { declareAs } from './assign.ts';
import { addDecision, markDecision, meet, type Outcome, passBy, runBranch } from './branches.ts';
import type { DraftNode } from './draft.ts';
import { hoist } from './hoist.ts';
import { Scope } from './scope.ts';
import { NOTHING_KNOWN, unknownFrom } from './value.ts';

/** Labels that share one body are one branch; a body without `break` runs on into the next. */
export function executeSwitch(a: Analysis, node: SwitchStatement): void {
  const { cases, discriminant } = node;
  const tests = cases.flatMap(({ test }) => (test ? [a.evaluate(test)] : []));
  const uses = unknownFrom(a.evaluate(discriminant), ...tests);
  const bodies = bodiesOf(a, cases);
  const places = bodies.map(({ branch, statements }) => ({ offset: statements[0]!.start, branch }));
  const decision = addDecision(a, node, a.textOf(discriminant), uses, { at: 'statements', places });
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  hoist(
    a,
    cases.flatMap(({ consequent }) => consequent),
  );
  const outcomes: Outcome[] = [];
  let fallen: Outcome | null = null;
  for (const { branch, statements } of bodies) {
    const from: Outcome | null = fallen;
    const run = () => {
      if (from) a.memory.meet([from.changes, new Map()]);
      a.executeAll(statements);
    };
    const head = { node: decision, type: 'conditional', branch } as const;
    const outcome = runBranch(a, { head, run, also: from?.exit.frontier ?? [] });
    fallen = outcome.exit.state === 'alive' ? outcome : null;
    if (!fallen) outcomes.push(outcome);
  }
  if (fallen) outcomes.push(fallen);
  if (cases.every(({ test }) => test !== null)) outcomes.push(passBy(decision));
  meet(a, outcomes);
  a.scope = outer;
}

/** The bodies that are not empty, each with the labels that lead to it. */
function bodiesOf(a: Analysis, cases: readonly SwitchCase[]): { branch: string; statements: Statement[] }[] {
  const bodies: { branch: string; statements: Statement[] }[] = [];
  let labels: string[] = [];
  for (const { test, consequent } of cases) {
    labels.push(test ? a.textOf(test) : 'default');
    if (consequent.length === 0) continue;
    bodies.push({ branch: labels.join(' | '), statements: consequent });
    labels = [];
  }
  return bodies;
}

/**
 * `try` with a `catch` is a decision: what is tried is contained in it, and the handler is its branch
 * `catch`, which starts from whatever the block may have done by then. `finally` belongs to neither.
 */
export function executeTry(
  a: Analysis,
  { block, handler, finalizer, ...node }: TryStatement,
  runBlock: (statements: readonly Statement[]) => void,
): void {
  if (handler) {
    const content = { type: 'decision', condition: 'try' } as const;
    const decision = a.flow.stepIfUsed(block, content, node.start, (head) => {
      meet(
        a,
        tryAndCatch(
          a,
          head,
          () => runBlock(block.body),
          () => {
            const outer = a.scope;
            a.scope = new Scope(outer, false);
            if (handler.param) declareAs(a, handler.param, NOTHING_KNOWN, handler.param);
            runBlock(handler.body.body);
            a.scope = outer;
          },
        ),
      );
    });
    const place = { offset: handler.body.start + 1, branch: 'catch' };
    if (decision) markDecision(a, block, decision, { at: 'statements', places: [place] });
  } else runBlock(block.body);
  if (!finalizer) return;
  // It runs however the rest ended.
  const { state } = a.flow;
  a.flow.state = 'alive';
  runBlock(finalizer.body);
  if (a.flow.state === 'alive') a.flow.state = state;
}

function tryAndCatch(a: Analysis, head: DraftNode, block: () => void, handler: () => void): Outcome[] {
  const tried = runBranch(a, { head: { node: head, type: 'contains' }, run: block });
  const caught = runBranch(a, {
    head: { node: head, type: 'conditional', branch: 'catch' },
    run: () => {
      a.memory.meet([tried.changes, new Map()]);
      handler();
    },
  });
  return [tried, caught];
}
