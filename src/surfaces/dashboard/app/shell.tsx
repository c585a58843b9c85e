import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PAGES, type PageName } from '../shared/routes.ts';
import { isSignedIn, logIn } from './api.ts';
import { Icon } from './components/badge.tsx';
import { Button, CopyButton } from './components/button.tsx';
import { Dialog } from './components/dialog.tsx';
import { Toasts } from './components/toast.tsx';
import { shownLine } from './format.ts';
import { connection } from './live.ts';
import { useAlerts, useStats } from './overview.ts';
import { CurrentPage } from './pages/current-page.tsx';
import { Palette } from './palette.tsx';
import { location, navigate, route } from './router.ts';
import { currentTheme, switchTheme } from './theme.ts';
import { who } from './who.ts';

const DEFAULTS = {
  /** Milliseconds between the two keys of `g r`. */
  pairMs: 1_200,
};

/** A new object per opening: a close event may arrive after the next one has opened. */
interface Overlay {
  readonly name: 'palette' | 'help';
  readonly opening: number;
}

/** The frame around every page. */
export function Shell() {
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  const open = (name: Overlay['name']) =>
    setOverlay((now) => ({ name, opening: (now?.opening ?? performance.now()) + 1 }));
  useLayoutEffect(
    () => listenForShortcuts({ openPalette: () => open('palette'), openHelp: () => open('help') }),
    [],
  );
  useFocusOnNewPage();
  if (!isSignedIn.value || location.value.path === '/login') return <SignIn />;
  const close = () => setOverlay((now) => (now?.opening === overlay?.opening ? null : now));
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          <Mark />
          <span>PML</span>
        </a>
        <button type="button" class="bar-search" onClick={() => open('palette')}>
          <Icon name="search" size={16} />
          <span>Jump to…</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Navigation />
        <div class="bar-foot">
          <ConnectionState />
          <Role />
          <a class="bar-docs" href="/docs/">
            Docs
          </a>
          <Button kind="quiet" icon="keyboard" aria-label="Keyboard shortcuts" onClick={() => open('help')} />
          <Button
            kind="quiet"
            icon={currentTheme() === 'dark' ? 'sun' : 'moon'}
            aria-label={currentTheme() === 'dark' ? 'Light theme' : 'Dark theme'}
            onClick={switchTheme}
          />
        </div>
      </header>
      <main id="main" class="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      <LostBanner />
      <Toasts />
      {overlay?.name === 'palette' && (
        <Palette key={overlay.opening} onClose={close} onHelp={() => open('help')} />
      )}
      {overlay?.name === 'help' && <HelpDialog key={overlay.opening} onClose={close} />}
    </div>
  );
}

function Navigation() {
  const waiting = useStats().state.value.data?.pending_approvals ?? 0;
  const alerts = useAlerts().state.value.data?.alerts.length ?? 0;
  const counts: Partial<Record<PageName, readonly [count: number, of: string]>> = {
    home: [alerts, alerts === 1 ? 'alert' : 'alerts'],
    approvals: [waiting, 'waiting for approval'],
  };
  return (
    <nav class="nav" aria-label="Pages">
      {PAGES.map(({ name, path, title }) => (
        <a key={name} href={path} aria-current={route.value.page === name ? 'page' : undefined}>
          <Icon name={name} size={20} />
          <span class="nav-title">{title}</span>
          <NavCount count={counts[name]?.[0] ?? 0} of={counts[name]?.[1] ?? ''} />
        </a>
      ))}
    </nav>
  );
}

function NavCount({ count, of }: { count: number; of: string }) {
  if (count === 0) return null;
  return (
    <span class="nav-count" title={`${count} ${of}`}>
      {count}
      <span class="hidden"> {of}</span>
    </span>
  );
}

const STATES = { live: 'Live', connecting: 'Connecting', lost: 'Disconnected' };

function ConnectionState() {
  return (
    <span class={`connection connection-${connection.value}`} role="status">
      <i />
      {STATES[connection.value]}
    </span>
  );
}

/** Shown for everyone except the owner. */
function Role() {
  const me = who.value;
  if (!me || me.role === 'owner') return null;
  return (
    <span class="bar-role" title={`Signed in with the key "${shownLine(me.name, 40)}"`}>
      {me.role}
    </span>
  );
}

function LostBanner() {
  if (connection.value !== 'lost') return null;
  return (
    <div class="banner" role="alert">
      <Icon name="alert" />
      <span>
        <strong>Disconnected.</strong> The gateway is not responding; this page may be out of date. Retrying…
      </span>
    </div>
  );
}

/**
 * Moves the focus, so that a screen reader announces the new page and the tab order starts at its top. Before the next
 * key is heard: later it would take the focus from the field that this key went to.
 */
function useFocusOnNewPage(): void {
  const { path } = location.value;
  const before = useRef(path);
  useLayoutEffect(() => {
    if (before.current === path) return;
    before.current = path;
    if (document.activeElement && document.activeElement !== document.body) {
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    }
  }, [path]);
}

function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

interface ShortcutActions {
  openPalette(): void;
  openHelp(): void;
}

/** For the help dialog, in display order. */
const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Command palette'],
  ['/', 'Search'],
  ...PAGES.map(({ key, title }) => [`g ${key}`, `Go to ${title}`] as const),
  ['↑ ↓', 'Move in a list'],
  ['Enter', 'Open'],
  ['Esc', 'Close'],
  ['?', 'This help'],
];

/** Keys that work everywhere except in text fields. */
function listenForShortcuts({ openPalette, openHelp }: ShortcutActions): () => void {
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

/** Focuses the page's own search field (`data-search`), or opens the search page. */
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

/** For a browser that is not logged in. */
function SignIn() {
  const { path } = location.value;
  const [code] = useState(codeOfLink);
  const [wasUsed, setUsed] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · PML';
    if (code === null) return;
    // Removes the code from the history, whether or not it works.
    history.replaceState(null, '', '/login');
    void logIn({ code }).then((problem) => {
      if (problem === null) window.location.replace('/');
      else setUsed(true);
    });
  }, [code]);
  if (code !== null && !wasUsed) return <main class="sign-in">Signing in…</main>;
  return (
    <main class="sign-in">
      <Mark size={44} />
      <h1>{wasUsed ? 'This link has been used or has expired' : 'Sign in'}</h1>
      <p>
        {wasUsed
          ? 'A login link works once, within 15 minutes. Get a new one in a terminal:'
          : 'This dashboard shows what your agents do, so only you can open it. Get a link in a terminal:'}
      </p>
      <div class="command">
        <code>pml login</code>
        <CopyButton text="pml login" label="Copy the command" />
      </div>
      <p class="muted">Or open the link that "pml serve" printed when it started, if it has not been used.</p>
      <KeyForm next={path === '/login' ? '/' : window.location.href} />
    </main>
  );
}

/** In the fragment (#), which is not sent to servers or logged. */
function codeOfLink(): string | null {
  return new URLSearchParams(window.location.hash.slice(1)).get('code');
}

/** For a team member with a key. */
function KeyForm({ next }: { next: string }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async () => {
    const wrong = await logIn({ key });
    if (wrong === null) window.location.assign(next);
    else setProblem(wrong);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label for="key">Or sign in with a key</label>
      <div class="row">
        <input
          id="key"
          type="password"
          autocomplete="off"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit">Sign in</Button>
      </div>
      {problem && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg class="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path d="M9.5 22.5 15 12M17.4 11.8l5.2 8.4M12 23.5h7.5" />
      <circle class="mark-top" cx="16" cy="8.5" r="3.4" />
      <circle class="mark-left" cx="8" cy="23.6" r="3.4" />
      <circle class="mark-right" cx="24" cy="23.2" r="3.4" />
    </svg>
  );
}
