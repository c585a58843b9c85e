import type { GuestCallError } from '../ports/sandbox.ts';
import type { Intrinsics } from './intrinsics.ts';
import type { ToJson } from './to-json.ts';

/**
 * What lies beyond the guest. Arguments are JSON, null when that would be longer than allowed; a refusal is
 * answered as the JSON of a `GuestCallError`.
 */
export interface CallsNative {
  callTool(id: number, server: string, tool: string, args: string | null): string | undefined;
  callCapability(id: number, slug: string, args: string | null): string | undefined;
}

export interface GuestCalls {
  readonly mcp: object;
  readonly capabilities: object;
  /** The answer to call `id`: JSON of its value, or of a `GuestCallError`. */
  deliver(id: number, ok: boolean, text: string): void;
}

/** `mcp.server.tool(args)` and `capabilities.slug(args)`: functions that hold no channel and no identity. */
export function createGuestCalls(
  use: Intrinsics,
  native: CallsNative,
  toJson: ToJson,
  maxArguments: number,
): GuestCalls {
  const { parse, create, freeze, defineProperty, captureStackTrace, isArray } = use;
  const { mapGet, mapSet, mapDelete, stringIndexOf, stringSlice } = use;

  interface Waiting {
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: unknown) => void;
    /** Where the call was made. */
    readonly origin: { readonly stack?: unknown };
    readonly label: Label;
  }
  /** `tool` or `capability`, and which one. */
  interface Label {
    readonly kind: 'tool' | 'capability';
    readonly name: string;
  }
  const waiting = new use.Map<number, Waiting>();
  let calls = 0;

  /** The lines of a stack; nothing when the program has bent how stacks are made. */
  const placeOf = (origin: Waiting['origin']): string => {
    try {
      const { stack } = origin;
      const lines = typeof stack === 'string' ? stringIndexOf(stack, '\n') : -1;
      return lines < 0 ? '' : stringSlice(stack, lines);
    } catch {
      return '';
    }
  };

  const failure = (text: string, { origin, label }: Pick<Waiting, 'origin' | 'label'>): unknown => {
    const told = parse(text) as GuestCallError;
    const error = new use.Error(told.message);
    const set = (key: string, value: unknown, enumerable = true) => {
      const descriptor = { __proto__: null, value, enumerable, writable: true, configurable: true };
      defineProperty(error, key, descriptor as PropertyDescriptor);
    };
    set('name', told.name, false);
    set('code', told.code);
    if (told.errorType !== undefined) set('errorType', told.errorType);
    set(label.kind, label.name);
    const frames = placeOf(origin);
    if (frames !== '') set('stack', `${told.name}: ${told.message}${frames}`, false);
    return error;
  };

  const check = (args: unknown, label: Label): unknown => {
    if (args === undefined) return create(null);
    if (typeof args === 'object' && args !== null && !isArray(args)) return args;
    const what = args === null ? 'null' : isArray(args) ? 'an array' : `a ${typeof args}`;
    throw new use.TypeError(`${label.name} takes one object of named arguments, not ${what}`);
  };

  const callable = (label: Label, ask: (id: number, args: string | null) => string | undefined) => {
    const call = (args?: unknown): Promise<unknown> => {
      const origin = create(null) as { stack?: unknown };
      captureStackTrace(origin, call);
      return new use.Promise((resolve, reject) => {
        const json = toJson(check(args, label), 'arguments', maxArguments);
        if (!json.ok && json.why === 'no_data') throw new use.TypeError(`${label.name}: ${json.message}`);
        const id = calls++;
        mapSet(waiting, id, { resolve, reject, origin, label });
        const refused = ask(id, json.ok ? json.text : null);
        if (refused === undefined) return;
        mapDelete(waiting, id);
        throw failure(refused, { origin, label });
      });
    };
    return call;
  };

  /** Any name is a member, but those by which the language takes an object for something else. */
  const namespace = (memberOf: (name: string) => unknown): object => {
    const members = new use.Map<string, unknown>();
    const get = (_: object, key: string | symbol): unknown => {
      if (typeof key !== 'string' || key === 'then' || key === 'toJSON') return undefined;
      const known = mapGet(members, key);
      if (known !== undefined) return known;
      const member = memberOf(key);
      mapSet(members, key, member);
      return member;
    };
    return new use.Proxy(freeze(create(null)), freeze({ __proto__: null, get }) as ProxyHandler<object>);
  };

  return {
    mcp: namespace((server) =>
      namespace((tool) =>
        callable({ kind: 'tool', name: `${server}:${tool}` }, (id, args) =>
          native.callTool(id, server, tool, args),
        ),
      ),
    ),
    capabilities: namespace((slug) =>
      callable({ kind: 'capability', name: slug }, (id, args) => native.callCapability(id, slug, args)),
    ),
    deliver(id, ok, text) {
      const call = mapGet(waiting, id) as Waiting | undefined;
      if (!call) return;
      mapDelete(waiting, id);
      if (ok) call.resolve(parse(text));
      else call.reject(failure(text, call));
    },
  };
}
