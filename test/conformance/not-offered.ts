const TASKS = 'The fixture has no tasks: the SDK it is built with does not offer the extension.';

/** Extensions that neither side claims; none is part of what a revision demands. */
export const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['auth/client-credentials-jwt', 'Client credentials are an id and a secret; PML holds no private keys.'],
  ['auth/enterprise-managed-authorization', 'PML has no login at an identity provider to exchange.'],
  ['auth/dpop', 'Tokens are bearer tokens; PML makes no proofs of possession.'],
  ['auth/dpop-nonce', 'Tokens are bearer tokens; PML makes no proofs of possession.'],
  ['auth/wif-jwt-bearer', 'PML runs on a person’s machine, which has no workload identity.'],
  ['tasks-lifecycle', TASKS],
  ['tasks-capability-negotiation', TASKS],
  ['tasks-wire-fields', TASKS],
  ['tasks-request-state-removal', TASKS],
  ['tasks-mrtr-input', TASKS],
  ['tasks-request-headers', TASKS],
  ['tasks-dispatch-and-envelope', TASKS],
  ['tasks-status-notifications', 'The suite skips it: what it watched is delivered elsewhere by now.'],
  ['tasks-required-task-error', TASKS],
  ['tasks-mrtr-composition', TASKS],
]);
