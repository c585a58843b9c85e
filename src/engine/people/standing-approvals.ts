import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { Approval, AuditEntry } from '../ports.ts';

const DEFAULTS = {
  /** Entries of one tool, or of one page of all, that are read at once. */
  page: 500,
};

/** What a person allows besides one call: every call of the tool, every call with these arguments, a session's calls. */
export const STANDING_SCOPES = ['tool', 'arguments', 'session'] as const;

export type StandingScope = (typeof STANDING_SCOPES)[number];

/** Whose call it is: an approval of one user's call is never another's. */
export interface Asker {
  readonly user: string | null;
  readonly sessionId: string | null;
}

export interface StandingApproval extends Asker {
  readonly id: string;
  readonly node: string;
  readonly scope: StandingScope;
  /** Of the exact call, or of the tool's definition: a tool that changes asks again. */
  readonly hash: string;
  /** As they are stored, for `arguments`. */
  readonly arguments: unknown;
  readonly by: string;
  readonly at: Date;
}

interface StandingOrder {
  readonly scope: StandingScope;
  readonly by: string;
  readonly asker: Asker;
  readonly definitionHash: string;
}

type StandingPorts = Pick<FlowPorts, 'store' | 'clock' | 'crypto'>;

/**
 * A person's word that stands until it is revoked. It is kept in the audit log alone: what is allowed now follows from
 * who allowed and revoked what, for every gateway on the store.
 */
export async function allowAlways(
  { store, clock, crypto }: StandingPorts,
  { id: approval_id, runId: run_id, node, argumentsHash, arguments: args }: Approval,
  { scope, by, asker, definitionHash }: StandingOrder,
): Promise<void> {
  const isSession = scope === 'session';
  if (isSession && asker.sessionId === null) {
    throw new PmlError('invalid_argument', 'This call does not belong to a session', {
      hint: 'Allow the tool or these arguments instead.',
    });
  }
  await store.audit.append({
    at: clock.now(),
    actor: by,
    action: 'always_allowed',
    subject: node,
    hash: scope === 'arguments' ? argumentsHash : definitionHash,
    details: {
      id: crypto.randomUuid(),
      scope,
      user: asker.user,
      session_id: isSession ? asker.sessionId : null,
      ...(scope === 'arguments' && { arguments: args }),
      run_id,
      approval_id,
    },
  });
}

interface AskedCall {
  readonly node: string;
  readonly argumentsHash: string;
  readonly definitionHash: string;
  readonly asker: Asker;
}

/** Whether a person has allowed calls like this one. */
export async function isAllowedAlways(
  ports: Pick<StandingPorts, 'store'>,
  { node, argumentsHash, definitionHash, asker }: AskedCall,
): Promise<boolean> {
  return (await standing(ports, node)).some(({ scope, hash, user, sessionId }) => {
    if (user !== asker.user || hash !== (scope === 'arguments' ? argumentsHash : definitionHash))
      return false;
    return scope !== 'session' || sessionId === asker.sessionId;
  });
}

/** What stands, newest first; of one tool or of all. */
export async function standing(
  ports: Pick<StandingPorts, 'store'>,
  node?: string,
): Promise<StandingApproval[]> {
  const subject = node === undefined ? {} : { subject: node };
  const revoked = new Set<unknown>();
  for (const { details } of await entries(ports, { action: 'always_revoked', ...subject }))
    revoked.add(details.id);
  const allowed = await entries(ports, { action: 'always_allowed', ...subject });
  return allowed.map(toStanding).filter(({ id }) => !revoked.has(id));
}

async function entries(
  { store }: Pick<StandingPorts, 'store'>,
  query: { readonly action: 'always_allowed' | 'always_revoked'; readonly subject?: string },
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for (let before: { before?: number } = {}; ; before = { before: found.at(-1)!.seq }) {
    const page = await store.audit.list({ ...query, ...before, limit: DEFAULTS.page });
    found.push(...page);
    if (page.length < DEFAULTS.page) return found;
  }
}

function toStanding({ at, actor, subject, hash, details }: AuditEntry): StandingApproval {
  return {
    id: String(details.id),
    node: subject,
    scope: details.scope as StandingScope,
    user: (details.user ?? null) as string | null,
    sessionId: (details.session_id ?? null) as string | null,
    hash: hash ?? '',
    arguments: details.arguments ?? null,
    by: actor,
    at,
  };
}

/** By a person; from now on such calls ask again. */
export async function revokeStanding(
  ports: Pick<StandingPorts, 'store' | 'clock'>,
  id: string,
  by: string,
): Promise<StandingApproval> {
  const found = (await standing(ports)).find((one) => one.id === id);
  if (!found) {
    throw new PmlError('not_found', `No standing approval ${id}`, { hint: 'See "pml runs allowed".' });
  }
  const { node: subject, hash } = found;
  const entry = { at: ports.clock.now(), actor: by, subject, hash, details: { id } };
  await ports.store.audit.append({ ...entry, action: 'always_revoked' });
  return found;
}
