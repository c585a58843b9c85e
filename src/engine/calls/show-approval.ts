import { type DefinitionChange, definitionChanges } from '../../core/policy/call-hash.ts';
import type { ToolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Catalogue, CatalogueEntry } from '../catalogue/catalogue.ts';
import { UNLISTED } from '../catalogue/catalogue.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Approval, JsonObject, WorkflowRun } from '../ports.ts';
import type { PendingRun, ShownApproval } from '../runs/pending-runs.ts';
import type { PendingCall, PendingCalls } from './approvals.ts';
import { exactCall, programHash } from './ask-person.ts';

interface ExactParts {
  readonly ports: Pick<FlowPorts, 'crypto'>;
  readonly calls: PendingCalls;
  readonly catalogue: () => Catalogue;
}

/** Replaces the stored, redacted form of waiting calls with the exact calls. */
export function showExact(parts: ExactParts, found: PendingRun): PendingRun {
  const shown = (approval: Approval) =>
    approval.state === 'pending' ? showApproval(parts, found.run, approval) : approval;
  return { ...found, approvals: found.approvals.map(shown) };
}

export function showApproval(
  { ports, calls, catalogue }: ExactParts,
  run: WorkflowRun | null,
  approval: Approval,
): ShownApproval {
  const entry = catalogue().get(approval.node as ToolId);
  const program = programOf(run, approval);
  const kept = calls.get(approval.id);
  const {
    asker: _,
    work: __,
    ...call
  } = kept ?? {
    arguments: approval.arguments,
    ...(program && { program }),
  };
  const isOf = (definitionHash: string) =>
    exactCall(ports, { id: approval.node as ToolId, definitionHash }, call.arguments as JsonObject) ===
    approval.argumentsHash;
  const hashes = call.program
    ? [programHash(ports, call.program)]
    : [entry?.tool.definitionHash, entry?.proposed?.definitionHash, UNLISTED];
  const isExact = kept !== null || hashes.some((hash) => hash !== undefined && isOf(hash));
  const changes = changesOf(entry, isOf);
  return { ...approval, ...call, isExact, ...(changes.length > 0 && { changes }) };
}

/** A call that cannot be shown in full cannot be approved. */
export function mustBeShown({ id, node, isExact }: ShownApproval): void {
  if (isExact !== false) return;
  throw new PmlError('not_available', `The full arguments of ${node} are not known here (${id})`, {
    hint: 'Only the gateway that asked knows them, while it runs. Reject the call, or let it be made again.',
  });
}

function changesOf(
  entry: CatalogueEntry | undefined,
  isOf: (definitionHash: string) => boolean,
): DefinitionChange[] {
  if (!entry?.proposed || !isOf(entry.proposed.definitionHash)) return [];
  return definitionChanges(entry.tool, entry.proposed);
}

/** The code or capability that a task of a workflow runs, from what is stored. */
function programOf(run: WorkflowRun | null, { id }: Approval): PendingCall['program'] | null {
  const waits = Object.entries(run?.tasks ?? {}).find(
    ([, state]) => (state as { approval_id?: string }).approval_id === id,
  );
  const key = waits?.[0].replace(/\[\d+\]$/, '');
  const task = (waits?.[1] as { status?: string })?.status === 'unknown' ? run?.plan?.tasks : undefined;
  const { code, capability } = task?.find((one) => one.id === key) ?? {};
  if (code === undefined && capability === undefined) return null;
  return { ...(code !== undefined && { code }), ...(capability !== undefined && { capability }) };
}
