/**
 * HTTP header in which a bridge names the client it speaks for: requests of the 2026-07-28 era have no
 * session, and a session of the older era ends with the gateway process while its client lives on.
 */
export const CLIENT_HEADER = 'x-pml-client';
