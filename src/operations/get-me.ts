import { z } from 'zod';
import { may, RIGHTS } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';

/** For a page that shows nothing that its reader may not do. */
export const getMe = operation({
  name: 'get_me',
  right: 'read',
  summary: 'Who asks, and what they may do',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    user: z.string(),
    role: z.enum(['agent', 'operator', 'viewer', 'owner']),
    rights: z.array(z.enum(RIGHTS)),
  }),
  http: { method: 'GET', path: '/me' },
  async run(_, __, caller) {
    const who = askerOf(caller);
    const { name, user, role } = who;
    return { name, user, role, rights: RIGHTS.filter((right) => may(who, right)) };
  },
});
