/** What is not claimed, or not tested; none is part of what a revision demands. */
export const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['auth/client-credentials-jwt', 'Client credentials are an id and a secret; PML holds no private keys.'],
  ['auth/enterprise-managed-authorization', 'PML has no login at an identity provider to exchange.'],
  ['auth/dpop', 'Tokens are bearer tokens; PML makes no proofs of possession.'],
  ['auth/dpop-nonce', 'Tokens are bearer tokens; PML makes no proofs of possession.'],
  ['auth/wif-jwt-bearer', 'PML runs on a person’s machine, which has no workload identity.'],
  ['tasks-status-notifications', 'The suite skips it: its own test is not written yet.'],
]);
