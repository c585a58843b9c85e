import { useEffect } from 'preact/hooks';
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
    </main>
  );
}
