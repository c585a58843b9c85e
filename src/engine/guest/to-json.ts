import type { Intrinsics } from './intrinsics.ts';

export type JsonText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: 'no_data' | 'too_large'; readonly message: string };

export type ToJson = (value: unknown, name: string, maxLength: number) => JsonText;

/**
 * A guest's value as JSON text. Like `JSON.stringify`, but what has no data in it is refused with its path
 * (`result.callback is a function`) instead of being dropped, collections become arrays and objects, and no
 * prototype a program has bent is asked for `toJSON`. Gives up once the text is longer than `maxLength`.
 * What the value's own getters throw is thrown.
 */
export function createToJson(use: Intrinsics): ToJson {
  const { prototypes, stringify, isArray, keys, getPrototypeOf } = use;
  const { setHas, setAdd, setDelete, setEach, mapEach, dateToISO, regexpExec, apply } = use;
  const MAX_DEPTH = 500;
  const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

  interface Trail {
    readonly up: Trail | undefined;
    readonly key: string | number;
    readonly depth: number;
  }
  const pathOf = ({ up, key }: Trail): string => {
    if (!up) return `${key}`;
    const before = pathOf(up);
    if (typeof key === 'number') return `${before}[${key}]`;
    return regexpExec(IDENTIFIER, key) === null ? `${before}[${stringify(key)}]` : `${before}.${key}`;
  };

  /** The built-in class a value belongs to, own subclasses included. */
  const classOf = (value: object): keyof Intrinsics['prototypes'] | undefined => {
    const names = keys(prototypes) as (keyof Intrinsics['prototypes'])[];
    for (let proto = getPrototypeOf(value); proto !== null; proto = getPrototypeOf(proto)) {
      for (let i = 0; i < names.length; i++) if (prototypes[names[i]!] === proto) return names[i];
    }
    return undefined;
  };

  const toJson = (root: unknown, name: string, maxLength: number): JsonText => {
    const ancestors = new use.Set<unknown>();
    let left = maxLength;
    let refusal: JsonText | undefined;
    const refuse = (why: 'no_data' | 'too_large', message: string): never => {
      refusal = { ok: false, why, message };
      throw refusal;
    };
    const noData = (trail: Trail, what: string) => refuse('no_data', `${pathOf(trail)} ${what}`);
    const take = (text: string): string => {
      left -= text.length;
      if (left < 0) refuse('too_large', `${name} is larger than the limit`);
      return text;
    };

    /** Undefined for what JSON leaves out. */
    const write = (value: unknown, key: string | number, up: Trail | undefined): string | undefined => {
      switch (typeof value) {
        case 'string':
          return take(stringify(value));
        case 'number':
          return take(use.isFinite(value) ? `${value}` : 'null');
        case 'boolean':
          return take(value ? 'true' : 'false');
        case 'bigint':
          return take(`"${value}"`);
        case 'undefined':
          return undefined;
        case 'object':
          if (value === null) return take('null');
          break;
        default: {
          const what = typeof value === 'symbol' ? 'a symbol' : 'a function';
          return noData({ up, key, depth: 0 }, `is ${what}, which is not data`);
        }
      }
      const trail: Trail = { up, key, depth: up ? up.depth + 1 : 0 };
      if (setHas(ancestors, value)) return noData(trail, 'contains itself: a cycle is not data');
      if (trail.depth > MAX_DEPTH) return noData(trail, `is nested more than ${MAX_DEPTH} levels deep`);
      setAdd(ancestors, value);
      const text = writeObject(value as Record<string, unknown>, trail);
      setDelete(ancestors, value);
      return text;
    };

    const writeObject = (value: Record<string, unknown>, trail: Trail): string | undefined => {
      if (isArray(value)) return writeItems(value, trail);
      const proto = getPrototypeOf(value);
      if (proto === null || proto === prototypes.Object) return writeFields(value, trail);
      const kind = classOf(value);
      switch (kind) {
        case 'Date':
          return take(dateText(value));
        case 'Map':
          return writeMap(value, trail);
        case 'Set':
          return writeItems(itemsOf(value), trail);
        case 'TypedArray':
          return writeItems(value as unknown as ArrayLike<unknown>, trail);
        case 'Error':
          return writeError(value, trail);
        case 'Promise':
          return noData(trail, 'is a promise, which is not data: await it');
        case 'ArrayBuffer':
        case 'WeakMap':
        case 'WeakSet':
          return noData(trail, `is a ${kind}, which is not data`);
      }
      const own: unknown = value.toJSON;
      if (typeof own !== 'function') return writeFields(value, trail);
      return write(apply(own as () => unknown, value, []), trail.key, trail.up);
    };

    const dateText = (value: object): string => {
      try {
        return `"${dateToISO(value)}"`;
      } catch {
        return 'null';
      }
    };

    const itemsOf = (set: object): ArrayLike<unknown> => {
      const items = { __proto__: null, length: 0 } as unknown as { length: number; [index: number]: unknown };
      setEach(set, (item: unknown) => {
        items[items.length++] = item;
      });
      return items;
    };

    const writeItems = (items: ArrayLike<unknown>, trail: Trail): string => {
      let text = take('[');
      for (let i = 0; i < items.length; i++) {
        if (i > 0) text += take(',');
        text += write(items[i], i, trail) ?? take('null');
      }
      return text + take(']');
    };

    const field = (text: string, key: string, value: unknown, trail: Trail): string => {
      const written = write(value, key, trail);
      if (written === undefined) return text;
      return `${text}${text === '{' ? '' : take(',')}${take(`${stringify(key)}:`)}${written}`;
    };

    const writeFields = (value: Record<string, unknown>, trail: Trail): string => {
      const names = keys(value);
      let text = take('{');
      for (let i = 0; i < names.length; i++) text = field(text, names[i]!, value[names[i]!], trail);
      return text + take('}');
    };

    const writeError = (value: Record<string, unknown>, trail: Trail): string => {
      let text = field(take('{'), 'name', value.name, trail);
      text = field(text, 'message', value.message, trail);
      const names = keys(value);
      for (let i = 0; i < names.length; i++) {
        const key = names[i]!;
        if (key !== 'name' && key !== 'message') text = field(text, key, value[key], trail);
      }
      return text + take('}');
    };

    /** An object when all keys are text, else its entries. */
    const writeMap = (map: object, trail: Trail): string => {
      let isRecord = true;
      mapEach(map, (_: unknown, key: unknown) => {
        if (typeof key !== 'string') isRecord = false;
      });
      let text = take(isRecord ? '{' : '[');
      mapEach(map, (value: unknown, key: unknown) => {
        if (isRecord) text = field(text, key as string, value, trail);
        else text += `${text === '[' ? '' : take(',')}${writeItems([key, value], trail)}`;
      });
      return text + take(isRecord ? '}' : ']');
    };

    try {
      return { ok: true, text: write(root, name, undefined) ?? 'null' };
    } catch (thrown) {
      if (refusal && thrown === refusal) return refusal;
      throw thrown;
    }
  };
  return toJson;
}
