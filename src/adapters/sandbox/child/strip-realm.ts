/**
 * Takes from a realm what compiles to machine code of its own, shares memory, tells the time or sees the
 * garbage collector. The engine adds some of these to every realm it makes from a snapshot, so they are
 * taken away after that. Runs in the realm itself.
 */
export function stripRealm(): void {
  const { deleteProperty } = Reflect;
  deleteProperty(globalThis, 'WebAssembly');
  deleteProperty(globalThis, 'SharedArrayBuffer');
  deleteProperty(globalThis, 'Atomics');
  deleteProperty(globalThis, 'FinalizationRegistry');
  deleteProperty(globalThis, 'WeakRef');
  deleteProperty(globalThis, 'Temporal');
  deleteProperty(globalThis, 'console');
  deleteProperty(Date.prototype, 'toTemporalInstant');
}
