import { z } from 'zod';

const DEFAULTS = {
  /** Public keys only: with a shared key, everybody who can check a token could make one. */
  issuer: { algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'], user_claim: 'sub', scopes: [] as string[] },
  /** What the key files of most identity providers are for. */
  algorithm: 'RS256',
} as const;

export const text = () => z.string().min(1);

// Validated after variables are expanded, so the published schema must accept `${VAR}`: no pattern.
export const httpUrl = z.string().refine((url) => /^https?:\/\/\S+$/.test(url) && URL.canParse(url), {
  error: 'must be a URL that starts with http:// or https://',
});

export const safeUrl = httpUrl.refine((url) => !URL.canParse(url) || isSafe(new URL(url)), {
  error: 'must start with https://; http:// is only for this machine',
});
const publicUrl = safeUrl.refine(
  (url) => !URL.canParse(url) || url.replace(/\/$/, '') === new URL(url).origin,
  {
    error: 'must be an address without a path, for example "https://pml.example.com"',
  },
);

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

const issuer = z
  .strictObject({
    url: safeUrl.describe('The issuer, exactly as written in its tokens.'),
    jwks_url: safeUrl.optional().describe('Address of its keys; if absent, taken from its metadata.'),
    audience: text()
      .optional()
      .describe('The audience that tokens must have; if absent, the address of the endpoint that is called.'),
    algorithms: z
      .array(
        z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']),
      )
      .min(1)
      .default([...DEFAULTS.issuer.algorithms])
      .describe('The signatures that are accepted.'),
    user_claim: text()
      .default(DEFAULTS.issuer.user_claim)
      .describe('The claim that names the user, for example sub or email.'),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: 'must be a scope without spaces' }))
      .default(DEFAULTS.issuer.scopes)
      .describe('Scopes that tokens must have.'),
    users: z
      .record(z.string(), text())
      .describe(
        'The key that each user acts with, by name: {"ada@example.com": "ada-agent"}. "*" is everybody else.',
      ),
  })
  .optional()
  .describe('Another authorization server that signs its tokens; if absent, PML has one of its own.');

/** Logins at this gateway. */
export const oauth = z
  .strictObject({
    url: publicUrl.describe('The public address of this gateway, for example https://pml.example.com.'),
    issuer,
  })
  .optional()
  .describe('Logins of hosted clients, such as claude.ai, with OAuth. If absent, only keys are accepted.');

const SIGNATURES = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;

/** What every grant may have. */
const common = {
  scope: text().optional().describe('OAuth scopes, separated by spaces.'),
  dpop: z
    .boolean()
    .optional()
    .describe(
      'Whether tokens are bound to a key of PML; each request then proves possession of it (RFC 9449).',
    ),
};
const onlyIssuer = httpUrl
  .optional()
  .describe('The only authorization server these credentials may be sent to.');
const secret = text().optional().describe('If absent, the client is public.');

const identityProvider = z
  .strictObject({
    issuer: safeUrl.describe('The identity provider, as written in its tokens.'),
    token_url: safeUrl
      .optional()
      .describe('Where it exchanges ID tokens; if absent, taken from its metadata.'),
    client_id: text().describe('The client id of PML at the identity provider.'),
    client_secret: secret,
    id_token_file: text()
      .optional()
      .describe(
        'A file in which another program keeps a current ID token, relative to this file. If absent, you log in once in a browser.',
      ),
  })
  .describe('Where the people in the company log in.');

/** Logins of PML at a server. */
export const auth = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('bearer'), token: text().describe('Sent as a bearer token.') }),
    z
      .strictObject({
        kind: z.literal('client_credentials'),
        client_id: text(),
        client_secret: text().optional(),
        private_key_file: text()
          .optional()
          .describe('Instead of client_secret: a private key (PEM, PKCS 8), relative to this file.'),
        algorithm: z.enum(SIGNATURES).default(DEFAULTS.algorithm).describe('How private_key_file signs.'),
        ...common,
        issuer: onlyIssuer,
      })
      .refine((given) => (given.client_secret === undefined) !== (given.private_key_file === undefined), {
        error: 'needs "client_secret" or "private_key_file", and not both',
      }),
    z.strictObject({
      kind: z.literal('authorization_code'),
      client_id: text().optional().describe('If absent, PML registers itself.'),
      client_secret: text().optional(),
      ...common,
    }),
    z.strictObject({
      kind: z.literal('enterprise'),
      client_id: text().describe('The client id of PML at the authorization server of the MCP server.'),
      client_secret: secret,
      ...common,
      issuer: onlyIssuer,
      idp: identityProvider,
    }),
    z.strictObject({
      kind: z.literal('workload'),
      client_id: text(),
      token_file: text().describe(
        'A file in which the platform keeps a current signed token (JWT), relative to this file.',
      ),
      ...common,
      issuer: onlyIssuer,
    }),
  ])
  .optional()
  .describe('How PML authenticates to the server, besides headers.');
