/**
 * What the guest's side uses of the language, taken before any program runs: whatever a program does to
 * globals and prototypes later, these stay what they were.
 *
 * The functions of this folder are the guest's half of every sandbox. They are also sent into other realms
 * as text (`String(fn)`), so they use nothing but their arguments and each other; and once a program runs
 * they keep clear of what it can bend: no spread, no `for…of`, no array destructuring (all of which ask for
 * `Symbol.iterator`), no method called on a value, no property set where a prototype may have a setter.
 */
export type Intrinsics = ReturnType<typeof captureIntrinsics>;

export function captureIntrinsics() {
  const { apply, getPrototypeOf } = Reflect;
  const { create, freeze, defineProperty, keys, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
  // biome-ignore lint/suspicious/noExplicitAny: any method, its receiver made the first argument
  const uncurry = (method: any) => {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (self: any, ...args: any[]): any => apply(method, self, args);
  };
  const mapGet = uncurry(Map.prototype.get);
  const setHas = uncurry(Set.prototype.has);
  const TypedArray = getPrototypeOf(Uint8Array) as { prototype: object };

  /** The language's own methods, and its functions that stand on an object: `Object.keys`. */
  const methods = new Set<unknown>();
  const statics = new Map<string, unknown>();
  const eachFunction = (home: object, visit: (name: string, fn: unknown) => void) => {
    for (const name of getOwnPropertyNames(home)) {
      const value: unknown = getOwnPropertyDescriptor(home, name)?.value;
      if (name !== 'constructor' && typeof value === 'function') visit(name, value);
    }
  };
  const classes = {
    Array,
    String,
    Number,
    BigInt,
    Object,
    Map,
    Set,
    Date,
    RegExp,
    Promise,
    Iterator,
    Symbol,
  };
  for (const [name, home] of Object.entries({ ...classes, Math, JSON, Reflect })) {
    eachFunction(home, (key, fn) => statics.set(`${name}.${key}`, fn));
  }
  for (const { prototype } of [...Object.values(classes), TypedArray]) {
    eachFunction(prototype as object, (_, fn) => methods.add(fn));
  }

  return freeze({
    apply,
    getPrototypeOf,
    create,
    freeze,
    keys,
    defineProperty,
    isArray: Array.isArray,
    isFinite: Number.isFinite,
    parse: JSON.parse,
    stringify: JSON.stringify,
    String,
    Promise,
    Map,
    mapGet,
    mapSet: uncurry(Map.prototype.set),
    mapDelete: uncurry(Map.prototype.delete),
    mapEach: uncurry(Map.prototype.forEach),
    Set,
    setHas,
    setAdd: uncurry(Set.prototype.add),
    setDelete: uncurry(Set.prototype.delete),
    setEach: uncurry(Set.prototype.forEach),
    Error,
    TypeError,
    Proxy,
    captureStackTrace: Error.captureStackTrace,
    dateToISO: uncurry(Date.prototype.toISOString),
    regexpExec: uncurry(RegExp.prototype.exec),
    stringSlice: uncurry(String.prototype.slice),
    stringIndexOf: uncurry(String.prototype.indexOf),
    symbolToString: uncurry(Symbol.prototype.toString),
    prototypes: freeze({
      Object: Object.prototype,
      Array: Array.prototype,
      Date: Date.prototype,
      Map: Map.prototype,
      Set: Set.prototype,
      Error: Error.prototype,
      Promise: Promise.prototype,
      TypedArray: TypedArray.prototype,
      ArrayBuffer: ArrayBuffer.prototype,
      WeakMap: WeakMap.prototype,
      WeakSet: WeakSet.prototype,
    }),
    /** Whether `fn`, called as `name`, is the language's own: `filter`, `Object.keys`. */
    isOperation(operation: string, name: string, fn: unknown): boolean {
      const own = mapGet(statics, operation);
      return own === undefined ? operation === name && setHas(methods, fn) : own === fn;
    },
  });
}
