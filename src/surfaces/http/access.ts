import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a browser may hold instead of the token: derived from it, so a new token ends all sessions. */
const SESSION_PURPOSE = 'pml browser session';
export const SESSION_COOKIE = 'pml_session';

export interface Access {
  /** True for the token itself or for a session made from it. */
  allows(credential: string | undefined): boolean;
  readonly sessionValue: string;
  /** A code for one login, good until used. */
  createLoginCode(): string;
  /** True once per code. */
  redeemLoginCode(code: string): boolean;
}

export function createAccess(token: string): Access {
  const sessionValue = createHmac('sha256', token).update(SESSION_PURPOSE).digest('base64url');
  // Compared as digests: in constant time, whatever the lengths.
  const good = [token, sessionValue].map(digest);
  const codes = new Set<string>();
  return {
    sessionValue,
    allows(credential) {
      if (credential === undefined) return false;
      const given = digest(credential);
      return good.some((digested) => timingSafeEqual(given, digested));
    },
    createLoginCode() {
      const code = randomBytes(24).toString('base64url');
      codes.add(code);
      return code;
    },
    redeemLoginCode: (code) => codes.delete(code),
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
