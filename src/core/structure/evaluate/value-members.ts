import {
  type ApiValue,
  literal,
  NOTHING_KNOWN,
  type ObjectValue,
  UNDEFINED,
  unknownFrom,
  type Value,
} from './value.ts';

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
const INDEX = /^(0|[1-9]\d*)$/;
/** Why a part of the API cannot be called. */
export const HOW_TO_CALL = {
  mcp: 'A tool is called as mcp.server.tool(args)',
  capabilities: 'A capability is called as capabilities.slug(args)',
};

/** `object.key` */
export function member(object: Value, key: string): Value {
  switch (object.kind) {
    case 'literal':
      return memberOfLiteral(object.value, key);
    case 'object':
      return memberOfObject(object, key);
    case 'api':
      return memberOfApi(object, key);
    case 'parameter':
      return key === 'length' ? NOTHING_KNOWN : { kind: 'parameter', path: extend(object.path, key) };
    case 'result':
      if (object.element) return INDEX.test(key) ? elementOf(object) : unknownFrom(object);
      // A length is not part of the data, so it has no path.
      return key === 'length' ? unknownFrom(object) : { ...object, path: extend(object.path, key) };
    case 'global':
      return { kind: 'global', name: `${object.name}.${key}` };
    case 'function':
      return NOTHING_KNOWN;
    default:
      return unknownFrom(object);
  }
}

/** `object[key]` */
export function keyed(object: Value, key: Value): Value {
  if (key.kind === 'literal' && key.value !== undefined && key.value !== null) {
    return member(object, String(key.value));
  }
  if (object.kind === 'api') {
    const part = object.root === 'capabilities' ? 'capability' : object.path.length === 0 ? 'server' : 'tool';
    const reach =
      object.path.length < depthOf(object)
        ? `The name of the ${part} is known only at run time`
        : HOW_TO_CALL[object.root];
    return { ...unknownFrom(key), reach };
  }
  return unknownFrom(object, key);
}

/** An element of an array or iterator. */
export function elementOf(value: Value): Value {
  if (value.kind === 'result' && value.element) return blurred(value.element, value);
  if (value.kind === 'object') {
    const held = [...value.props.values(), value.rest].flatMap((cell) => cell.value ?? []);
    const [only] = held;
    // If the only element is a function or tool, it is known exactly.
    if (only && held.length === 1 && value.isArray && !value.isOpen) return only;
    return held.every((each) => each.kind === 'promise') && only
      ? { kind: 'promise', value: unknownFrom(...held), ends: unknownFrom(value).ends, begins: [] }
      : unknownFrom(value);
  }
  return unknownFrom(value);
}

function blurred(element: Value, from: Value): Value {
  if (element.kind !== 'promise') return unknownFrom(from);
  return { ...element, value: unknownFrom(element.value) };
}

/** How many names lead to a callable value. */
export function depthOf({ root }: ApiValue): number {
  return root === 'mcp' ? 2 : 1;
}

/** `items[0].id`, with quotes where a name needs them. */
function extend(path: string, key: string): string {
  if (INDEX.test(key)) return `${path}[${key}]`;
  if (!IDENTIFIER.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function memberOfLiteral(value: unknown, key: string): Value {
  if (typeof value !== 'string') return NOTHING_KNOWN;
  if (key === 'length') return literal(value.length);
  return INDEX.test(key) ? literal(value[Number(key)]) : NOTHING_KNOWN;
}

function memberOfObject(object: ObjectValue, key: string): Value {
  const cell = object.props.get(key);
  if (cell) return cell.value ?? UNDEFINED;
  if (object.isOpen) return unknownFrom(object.rest.value);
  if (object.isArray && key === 'length') return unknownFrom(object);
  if (object.isArray && INDEX.test(key)) return UNDEFINED;
  // The object is closed, but it still has the methods of every object.
  return object.isArray || key in Object.prototype ? NOTHING_KNOWN : UNDEFINED;
}

function memberOfApi(api: ApiValue, key: string): Value {
  if (api.path.length < depthOf(api)) return { ...api, path: [...api.path, key] };
  return { ...NOTHING_KNOWN, reach: HOW_TO_CALL[api.root] };
}
