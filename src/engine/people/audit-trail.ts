import { canonicalJson } from '../../core/policy/call-hash.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Caller } from '../caller.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Approval, Capability, PermissionSettings, Settings } from '../ports.ts';

type TrailPorts = Pick<FlowPorts, 'store' | 'clock' | 'crypto'>;

/** Stands for a file: who changed it is not known here. */
const CONFIGURATION = 'configuration';

/** Writes down the rules in force if they are others than this configuration had the last time, also before a restart. */
export async function recordPolicy(
  { store, clock, crypto }: TrailPorts,
  { file, permissions }: Pick<Settings, 'file' | 'permissions'>,
): Promise<void> {
  const subject = file ?? 'defaults';
  const rules = rulesToWire(permissions);
  const hash = crypto.sha256(canonicalJson(rules));
  const [last] = await store.audit.list({ limit: 1, action: 'policy_changed', subject });
  if (last?.hash === hash) return;
  const details = { rules, before: last?.hash ?? null };
  await store.audit.append({
    at: clock.now(),
    actor: CONFIGURATION,
    action: 'policy_changed',
    subject,
    hash,
    details,
  });
}

/** A person let a tool be called as its server defines it now; from then on that is how it is known. */
export async function recordAccepted(
  { store, clock }: TrailPorts,
  definition: ToolDefinition,
  /** With an approval of a call, or by itself. */
  because: Pick<Approval, 'id' | 'runId'> | { readonly by: string },
): Promise<void> {
  const approval = 'id' in because ? because : null;
  const settled = approval && (await store.approvals.get(approval.id));
  await store.audit.append({
    at: clock.now(),
    actor: 'by' in because ? because.by : (settled?.settledBy ?? 'a person'),
    action: 'definition_accepted',
    subject: definition.id,
    hash: definition.definitionHash,
    details: approval ? { run_id: approval.runId, approval_id: approval.id } : {},
  });
}

/** The hash is that of the call as it is asked about now. */
export async function recordEdit(
  { store, clock }: TrailPorts,
  { id, runId, node, argumentsHash }: Approval,
  by: string,
): Promise<void> {
  const details = { node, approval_id: id };
  await store.audit.append({
    at: clock.now(),
    actor: by,
    action: 'edited',
    subject: runId,
    hash: argumentsHash,
    details,
  });
}

/** A capability was made everybody's, or one user's. The hash is that of its code. */
export async function recordSharing(
  { store, clock }: Pick<TrailPorts, 'store' | 'clock'>,
  { id, slug, owner, visibility, codeHash }: Capability,
  { who }: Pick<Caller, 'who'>,
): Promise<void> {
  await store.audit.append({
    at: clock.now(),
    actor: who?.name ?? 'a person',
    action: 'sharing_changed',
    subject: id,
    hash: codeHash,
    details: { slug, owner, visibility },
  });
}

function rulesToWire({ allow, ask, deny, auto, default: rest, profile, clientsDecide }: PermissionSettings) {
  return { allow, ask, deny, auto, default: rest, profile, clients_decide: clientsDecide };
}
