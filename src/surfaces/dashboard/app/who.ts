import { effect, signal } from '@preact/signals';
import type { Me, Right } from '../shared/api-types.ts';
import { PAGES } from '../shared/routes.ts';
import { getJson, isSignedIn } from './api.ts';
import { shownLine } from './format.ts';
import { epoch } from './live.ts';

/** The current user; undefined until the gateway responds, null if that failed. */
export const who = signal<Me | null | undefined>(undefined);

const MAY_NOT: Readonly<Record<Right, string>> = {
  read: 'view this',
  run: 'run anything',
  decide: 'decide on approvals',
  manage: 'change what PML has learned',
  see_all: 'see private runs of others',
  keys: 'manage keys',
  bridge: 'do what only the owner may',
};

/** Loads the user now and after every reconnection, because the key or the gateway may have changed. */
export function followWho(): () => void {
  return effect(() => {
    epoch.value;
    if (!isSignedIn.value) return;
    void getJson<Me>('/me').then(
      (me) => {
        who.value = me;
      },
      // The gateway enforces rights; the page only explains them.
      () => {
        who.value ??= null;
      },
    );
  });
}

/** The pages that the user may open; one that needs a right is added when the rights are known. */
export function shownPages(): readonly (typeof PAGES)[number][] {
  return PAGES.filter((page) => !('needs' in page) || who.value?.rights.includes(page.needs));
}

/** Why the user may not do this; null if they may. */
export function refusal(right: Right): string | null {
  const me = who.value;
  if (!me || me.rights.includes(right)) return null;
  return `The key "${shownLine(me.name, 40)}" has the role "${me.role}" and may not ${MAY_NOT[right]}`;
}
