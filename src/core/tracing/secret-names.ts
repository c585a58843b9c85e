import { withoutEnding } from '../vocabulary/without-ending.ts';

/** A name's last word says what it holds: `githubToken`, `PGPASSWORD`, `x-api-key`. */
const SECRET_WORD =
  /(password|passwd|passphrase|passcode|pwd|secret|secrets|token|apikey|accesskey|secretkey|privatekey|authorization|credential|credentials|cookie|jwt)$/;
/** `key` alone is harmless (primary key, sort key); after one of these it opens something. */
const KEY_OWNERS = new Set(
  'api access private secret signing encryption master account shared auth service ssh client webhook deploy bot app admin storage'.split(
    ' ',
  ),
);
/** Tokens that mark a place in a list, a unit of text or a request in flight: nothing to hide. */
const HARMLESS_TOKEN =
  /(page|next|previous|continuation|sync|progress|cancel|cancellation|cursor|delta|start|end|eos|bos|pad|unk|mask|stop|special|max)token$/;
/** Words after the one that matters: `password_hash`, `token_value`. */
const TRAILING = new Set(['value', 'hash', 'text', 'raw', 'plain', 'base64', 'b64', 'string']);

/** Most names hold none of these, and are let go before they are taken apart. */
const SUSPECT = /pass|pwd|secret|token|key|auth|cred|cookie|jwt|pat/i;

/** Whether a key, header, flag or variable of this name usually holds something secret. */
export function isSecretName(name: string): boolean {
  if (!SUSPECT.test(name)) return false;
  // The shell's working directory; `pwd` in any other spelling is a password.
  if (name === 'PWD' || name === 'OLDPWD' || name.length > 128) return false;
  const words = wordsOf(name);
  while (words.length > 1 && TRAILING.has(words.at(-1)!)) words.pop();
  const last = words.at(-1);
  if (last === undefined) return false;
  const before = words.at(-2) ?? '';
  if (HARMLESS_TOKEN.test(before + last)) return false;
  if (SECRET_WORD.test(last)) return true;
  if (last === 'pat') return words.length > 1;
  return last === 'key' && KEY_OWNERS.has(before);
}

/** `tavilyApiKey2` -> tavily, api, key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (TRAILING.has(word) ? word : withoutEnding(word, '0123456789')))
    .filter((word) => word !== '');
}
