import { useEffect, useState } from 'preact/hooks';
import { Button } from './components/button.tsx';
import { CopyButton } from './components/copy-button.tsx';
import { Mark } from './mark.tsx';
import { location } from './router.ts';

/** For a browser the gateway does not know: how to become known. */
export function SignIn() {
  const { path, query } = location.value;
  const wasUsed = path === '/login' && query.has('code');
  useEffect(() => {
    document.title = 'Sign in · PML';
  }, []);
  return (
    <main class="sign-in">
      <Mark size={44} />
      <h1>{wasUsed ? 'This link was used already' : 'Sign in'}</h1>
      <p>
        {wasUsed
          ? 'A login link works once. Get a new one in a terminal:'
          : 'This dashboard shows what your agents do, so it opens only to you. Get a link in a terminal:'}
      </p>
      <div class="command">
        <code>pml login</code>
        <CopyButton text="pml login" label="Copy the command" />
      </div>
      <p class="muted">
        Or open the link that "pml serve" printed when it started, if nobody has used it yet.
      </p>
      <KeyForm next={path === '/login' ? '/' : window.location.href} />
    </main>
  );
}

/** For a member of a team, who was given a key. */
function KeyForm({ next }: { next: string }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async () => {
    // A redirect is a welcome; everything else says what is wrong.
    const reply = await fetch('/login', {
      method: 'POST',
      body: new URLSearchParams({ key }),
      redirect: 'manual',
    });
    if (reply.type === 'opaqueredirect') window.location.assign(next);
    else setProblem((await reply.json().catch(() => null))?.error?.message ?? 'That did not work');
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
