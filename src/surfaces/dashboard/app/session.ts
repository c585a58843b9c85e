/** Where the login of this browser lies: storage that only pages of this very origin can read, ports included. */
const PLACE = 'pml-session';

let session = read();

/** The header by which the gateway knows this browser; none when it does not. */
export function credentials(): Record<string, string> {
  return session === null ? {} : { authorization: `Bearer ${session}` };
}

/** Hands in a code of a link, or a key; answers what is wrong, or null. */
export async function logIn(
  given: { readonly code: string } | { readonly key: string },
): Promise<string | null> {
  const reply = await fetch('/login', { method: 'POST', body: new URLSearchParams(given) });
  const body = await reply.json().catch(() => null);
  if (!reply.ok) return String(body?.error?.message ?? 'That did not work');
  session = String(body.session);
  try {
    localStorage.setItem(PLACE, session);
  } catch {
    // Where a browser keeps nothing, the login is good until the page is left.
  }
  return null;
}

function read(): string | null {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}
