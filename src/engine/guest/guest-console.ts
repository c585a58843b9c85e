import type { ConsoleLine } from '../ports/sandbox.ts';
import type { Intrinsics } from './intrinsics.ts';

export interface ShowValue {
  /** What `console.log` prints of its arguments, at most `maxLength` long. */
  line(values: readonly unknown[], maxLength: number): string;
  /** Anything at all can be thrown. */
  thrown(value: unknown): ThrownText;
}

export interface ThrownText {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** Values for people: text as it is, errors with their stack, cycles and hostile getters survive. */
export function createShowValue(use: Intrinsics): ShowValue {
  const { prototypes, isArray, keys, getPrototypeOf, stringify, stringSlice, symbolToString } = use;
  const { setHas, setAdd, setDelete, setEach, mapEach, dateToISO } = use;
  const MAX_DEPTH = 5;
  const MAX_ITEMS = 100;
  const MAX_TEXT = 2_000;
  const UNREADABLE = '[cannot be shown]';

  const attempt = (show: () => string, otherwise = UNREADABLE): string => {
    try {
      const text: unknown = show();
      return typeof text === 'string' ? text : otherwise;
    } catch {
      return otherwise;
    }
  };

  const isA = (value: object, prototype: object): boolean => {
    for (let proto = getPrototypeOf(value); proto !== null; proto = getPrototypeOf(proto)) {
      if (proto === prototype) return true;
    }
    return false;
  };

  const textOf = (value: unknown): string => (typeof value === 'string' ? value : use.String(value));

  const errorText = (error: Record<string, unknown>): string => {
    const { stack } = error;
    return typeof stack === 'string' && stack !== ''
      ? stack
      : `${textOf(error.name)}: ${textOf(error.message)}`;
  };

  const showFields = (value: Record<string, unknown>, show: (value: unknown) => string): string => {
    const names = keys(value);
    let text = '';
    for (let i = 0; i < names.length && i < MAX_ITEMS; i++) {
      const key = names[i]!;
      text += `${i === 0 ? '' : ', '}${key}: ${attempt(() => show(value[key]))}`;
    }
    if (names.length > MAX_ITEMS) text += ', …';
    return text === '' ? '{}' : `{ ${text} }`;
  };

  const showItems = (items: ArrayLike<unknown>, show: (value: unknown) => string): string => {
    let text = '';
    for (let i = 0; i < items.length && i < MAX_ITEMS; i++) {
      text += `${i === 0 ? '' : ', '}${attempt(() => show(items[i]))}`;
    }
    return `[${text}${items.length > MAX_ITEMS ? ', …' : ''}]`;
  };

  const showEntries = (kind: 'Map' | 'Set', value: object, show: (value: unknown) => string): string => {
    let text = '';
    let count = 0;
    const add = (entry: () => string) => {
      if (count < MAX_ITEMS) text += `${count === 0 ? '' : ', '}${entry()}`;
      count++;
    };
    if (kind === 'Set') setEach(value, (item: unknown) => add(() => show(item)));
    else mapEach(value, (item: unknown, key: unknown) => add(() => `${show(key)} => ${show(item)}`));
    return `${kind}(${count}) {${text === '' ? '' : ` ${text}${count > MAX_ITEMS ? ', …' : ''} `}}`;
  };

  const showObject = (value: object, show: (value: unknown) => string): string => {
    if (isArray(value)) return showItems(value, show);
    if (isA(value, prototypes.Error)) return errorText(value as Record<string, unknown>);
    if (isA(value, prototypes.Date)) return attempt(() => dateToISO(value), 'Invalid Date');
    if (isA(value, prototypes.Map)) return showEntries('Map', value, show);
    if (isA(value, prototypes.Set)) return showEntries('Set', value, show);
    if (isA(value, prototypes.TypedArray)) return showItems(value as unknown as ArrayLike<unknown>, show);
    if (isA(value, prototypes.Promise)) return '[Promise]';
    return showFields(value as Record<string, unknown>, show);
  };

  const show = (value: unknown, depth: number, ancestors: Set<unknown>): string => {
    switch (typeof value) {
      case 'string':
        return depth === 0 ? value : stringify(value);
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return symbolToString(value);
      case 'function':
        return attempt(() => `[Function ${textOf(value.name) || '(anonymous)'}]`);
      case 'object':
        break;
      default:
        return `${value as undefined}`;
    }
    if (value === null) return 'null';
    if (setHas(ancestors, value)) return '[Circular]';
    if (depth > MAX_DEPTH) return isArray(value) ? '[…]' : '{…}';
    setAdd(ancestors, value);
    const text = attempt(() => showObject(value, (inner) => show(inner, depth + 1, ancestors)));
    setDelete(ancestors, value);
    return text;
  };

  const cut = (text: string, length: number): string =>
    text.length > length ? `${stringSlice(text, 0, length)}…` : text;

  return {
    line(values, maxLength) {
      let text = '';
      for (let i = 0; i < values.length && text.length <= maxLength; i++) {
        text += `${i === 0 ? '' : ' '}${attempt(() => show(values[i], 0, new use.Set()))}`;
      }
      return stringSlice(text, 0, maxLength);
    },
    thrown(value) {
      const isError = typeof value === 'object' && value !== null;
      const error = value as Record<string, unknown>;
      const field = (key: string) => attempt(() => (isError ? (error[key] as string) : ''), '');
      const name = field('name');
      const message = field('message');
      if (isError && message !== '') {
        // What a tool says of its failure rarely says which tool it is.
        const tool = name === 'ToolError' ? `${field('tool')}: ` : '';
        return {
          name: cut(name || 'Error', 100),
          message: cut(tool + message, MAX_TEXT),
          stack: field('stack'),
        };
      }
      if (isError && attempt(() => (isA(value, prototypes.Error) ? 'yes' : 'no')) === 'yes') {
        return { name: cut(field('name') || 'Error', 100), message: 'no message', stack: field('stack') };
      }
      const shown = cut(
        attempt(() => show(value, 1, new use.Set())),
        MAX_TEXT,
      );
      return { name: 'Error', message: `${shown} was thrown, which is not an Error`, stack: '' };
    },
  };
}

/** False: the budget is used up. */
export type Print = (level: ConsoleLine['level'], text: string) => boolean;

export function createGuestConsole(
  use: Intrinsics,
  print: Print,
  show: ShowValue,
  maxLength: number,
): object {
  let isFull = false;
  const printer = (level: ConsoleLine['level']) => {
    return (...values: unknown[]): void => {
      // One character more than there is room for: the other side cuts, and knows that it did.
      if (!isFull) isFull = !print(level, show.line(values, maxLength + 1));
    };
  };
  return use.freeze({
    __proto__: null,
    log: printer('log'),
    info: printer('info'),
    warn: printer('warn'),
    error: printer('error'),
    debug: printer('debug'),
  });
}
