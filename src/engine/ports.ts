/** Every interface the services need, in one place; adapters implement them. */

/** The calls of past runs, one by one. */
export type * from './ports/calls.ts';
/** What happens, as it is told: events, requests, traces. */
export type * from './ports/event-sink.ts';
/** The graph, as it is kept. */
export type * from './ports/graph-store.ts';
/** Embedding, nearest neighbours, training, and what became of suggestions. */
export type * from './ports/learning.ts';
/** Keys, usage, audit, logins. */
export * from './ports/people-store.ts';
/** Clock, log, event loop: the process itself, and the other gateways on its store. */
export type * from './ports/process.ts';
/** What runs programs, and what it is told and tells. */
export type * from './ports/sandbox.ts';
export type * from './ports/settings.ts';
/** What else is stored. */
export type * from './ports/store.ts';
/** MCP servers. */
export type * from './ports/upstream.ts';
