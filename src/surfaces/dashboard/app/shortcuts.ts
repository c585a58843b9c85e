import { PAGES } from '../shared/routes.ts';
import { navigate } from './router.ts';

const DEFAULTS = {
  /** Milliseconds between the two keys of `g r`. */
  pairMs: 1_200,
};

export interface ShortcutActions {
  openPalette(): void;
  openHelp(): void;
}

/** For the help, in the order in which they are shown. */
export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Command palette'],
  ['/', 'Search'],
  ...PAGES.map(({ key, title }) => [`g ${key}`, `Go to ${title}`] as const),
  ['↑ ↓', 'Move in a list'],
  ['Enter', 'Open'],
  ['Esc', 'Close'],
  ['?', 'This help'],
];

/** Keys that work everywhere but where one types. */
export function listenForShortcuts({ openPalette, openHelp }: ShortcutActions): () => void {
  let afterG = 0;
  const hear = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    const page = PAGES.find(({ key }) => key === event.key);
    if (page && event.timeStamp - afterG < DEFAULTS.pairMs && afterG > 0) {
      afterG = 0;
      event.preventDefault();
      navigate(page.path);
      return;
    }
    afterG = event.key === 'g' ? event.timeStamp : 0;
    if (event.key === '/') {
      event.preventDefault();
      focusSearch();
    }
    if (event.key === '?') openHelp();
  };
  document.addEventListener('keydown', hear);
  return () => document.removeEventListener('keydown', hear);
}

/** The page's own search field where it has one (`data-search`), else the search page. */
function focusSearch(): void {
  const field = document.querySelector<HTMLElement>('main [data-search]');
  if (field) field.focus();
  else navigate('/search');
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
