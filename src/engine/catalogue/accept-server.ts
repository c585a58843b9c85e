import {
  canonicalJson,
  type DefinitionChange,
  definitionChanges,
  fieldChanges,
} from '../../core/policy/call-hash.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { FlowPorts } from '../flow-ports.ts';
import { recordAccepted } from '../people/audit-trail.ts';
import type { UpstreamIdentity } from '../ports.ts';
import type { LiveCatalogue } from './catalogue.ts';

/** What a server says of itself and its tools that nobody has accepted yet. */
export interface ServerChanges {
  /** Of the server's own words: `instructions` and fields of its name. */
  readonly words: readonly DefinitionChange[];
  readonly tools: readonly { readonly tool: string; readonly changes: readonly DefinitionChange[] }[];
  /** Names exactly these changes. */
  readonly hash: string;
}

interface AcceptScope {
  readonly ports: FlowPorts;
  readonly catalogue: LiveCatalogue;
}

/** Starts the server and lists its tools again; fails if it cannot be started or listed. */
export async function changesOfServer(scope: AcceptScope, server: string): Promise<ServerChanges> {
  const { now, known } = await faces(scope, server);
  const listed = await scope.ports.upstream.catalogue(server);
  if (!listed.ok) throw asError(listed.error);
  await scope.catalogue.refresh(server);
  const words = known ? wordChanges(known.identity, now) : [];
  const tools = proposedOf(scope, server).map(({ tool, proposed }) => ({
    tool: tool.id as string,
    changes: definitionChanges(tool, proposed),
  }));
  return { words, tools, hash: scope.ports.crypto.sha256(canonicalJson([words, tools])) };
}

/** By a person who was shown the changes of this hash; what changed since is not accepted with them. */
export async function acceptServer(
  scope: AcceptScope,
  server: string,
  by: string,
  hash: string,
): Promise<ServerChanges> {
  const { ports, catalogue } = scope;
  const changes = await changesOfServer(scope, server);
  if (changes.hash !== hash) {
    throw new PmlError('store_conflict', `"${server}" has changed again in the meantime`, {
      hint: 'Look at it again.',
    });
  }
  for (const { proposed } of proposedOf(scope, server)) {
    await recordAccepted(ports, proposed, { by });
    await catalogue.accept(proposed);
  }
  const { now, known } = await faces(scope, server);
  if (known) await ports.store.servers.put({ ...known, identity: now });
  return changes;
}

function proposedOf({ catalogue }: AcceptScope, server: string) {
  return catalogue
    .current()
    .entries.flatMap(({ tool, proposed }) =>
      tool.server === server && proposed ? [{ tool, proposed }] : [],
    );
}

async function faces({ ports: { upstream, store } }: AcceptScope, server: string) {
  const started = await upstream.start(server, { isWanted: true });
  if (!started.ok) throw asError(started.error);
  const known = (await store.servers.list()).find(({ name }) => name === server);
  return { now: started.value, known };
}

function asError({ code, message, hint }: ErrorShape): PmlError {
  return new PmlError(code, message, hint === undefined ? {} : { hint });
}

/** A version is a fact, not a word to be accepted. */
function wordChanges(accepted: UpstreamIdentity, now: UpstreamIdentity): DefinitionChange[] {
  const wordsOf = ({ instructions, info }: UpstreamIdentity): Record<string, unknown> => {
    const { version: _, ...name } = info ?? {};
    return { instructions, ...name };
  };
  return fieldChanges(wordsOf(accepted), wordsOf(now));
}
