import { useEffect, useState } from 'preact/hooks';
import { logIn } from './api.ts';
import { Button, CopyButton } from './components/button.tsx';
import { location } from './router.ts';

/** For a browser that is not logged in. */
export function SignIn() {
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

export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg class="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path d="M9.5 22.5 15 12M17.4 11.8l5.2 8.4M12 23.5h7.5" />
      <circle class="mark-top" cx="16" cy="8.5" r="3.4" />
      <circle class="mark-left" cx="8" cy="23.6" r="3.4" />
      <circle class="mark-right" cx="24" cy="23.2" r="3.4" />
    </svg>
  );
}
