import type { Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { auditToWire } from '../../../engine/people/people-wire.ts';
import { may, RIGHTS } from '../../../engine/people/roles.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../engine/ports.ts';
import { whoIs } from '../guard.ts';
import { countParameter, textParameter } from './parameters.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export function peopleRoutes(api: Hono, gateway: Gateway): void {
  /** For a page that shows nothing that its reader may not do. */
  api.get('/me', (context) => {
    const who = whoIs(context);
    const { name, user, role } = who;
    return context.json({ name, user, role, rights: RIGHTS.filter((right) => may(who, right)) });
  });
  api.get('/audit', async (context) => {
    const limit = countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit);
    const action = textParameter(context, 'action');
    const subject = textParameter(context, 'subject');
    const before = textParameter(context, 'before');
    const entries = await gateway.people.audit({
      limit,
      ...(action !== undefined && { action: known(action) }),
      ...(subject !== undefined && { subject }),
      ...(before !== undefined && {
        before: countParameter(context, 'before', 1, Number.MAX_SAFE_INTEGER),
      }),
    });
    return context.json({
      entries: entries.map(auditToWire),
      /** What to give as `before` for the next page. */
      next: entries.length === limit ? (entries.at(-1)?.seq ?? null) : null,
    });
  });
}

function known(action: string): AuditAction {
  const found = AUDIT_ACTIONS.find((name) => name === action);
  if (found) return found;
  throw new PmlError('invalid_argument', `The audit log knows no "${action}"`, {
    hint: `There are ${AUDIT_ACTIONS.join(', ')}.`,
  });
}
