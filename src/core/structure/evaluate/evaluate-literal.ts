import type { ArrayExpression, Expression, ObjectExpression, PropertyKey } from 'oxc-parser';
import type { Analysis } from './analysis.ts';
import {
  isListed,
  NOTHING_KNOWN,
  type ObjectValue,
  objectValue,
  setProperty,
  unknownFrom,
  type Value,
} from './value.ts';

export function evaluateArray(a: Analysis, { elements }: ArrayExpression): ObjectValue {
  const array = objectValue(true);
  let index = 0;
  const push = (value: Value) => {
    if (array.isOpen) a.memory.add(array.rest, value);
    else setProperty(array, String(index++), { value });
  };
  for (const element of elements) {
    if (element === null) index++;
    else if (element.type !== 'SpreadElement') push(a.evaluate(element));
    else {
      const spread = a.evaluate(element.argument);
      if (isListed(spread)) for (const cell of spread.props.values()) push(cell.value ?? NOTHING_KNOWN);
      else {
        array.isOpen = true;
        push(unknownFrom(spread));
      }
    }
  }
  return array;
}

export function evaluateObject(a: Analysis, { properties }: ObjectExpression): ObjectValue {
  const object = objectValue(false);
  for (const property of properties) {
    if (property.type === 'SpreadElement') {
      spreadInto(a, object, a.evaluate(property.argument));
      continue;
    }
    const key = keyName(a, property.key, property.computed);
    const made = a.evaluate(property.value);
    // The value of a getter is unknown before the run.
    const isAccessor = property.kind !== 'init';
    const value = isAccessor
      ? NOTHING_KNOWN
      : made.kind === 'function' && property.method
        ? { ...made, self: object }
        : made;
    if (key === null) {
      object.isOpen = true;
      a.memory.add(object.rest, unknownFrom(value));
    } else setProperty(object, key, { value, text: property.value });
  }
  return object;
}

/** Null if the key is known only at run time. */
export function keyName(a: Analysis, key: PropertyKey, isComputed: boolean): string | null {
  if (!isComputed && key.type === 'Identifier') return key.name;
  if (key.type === 'PrivateIdentifier') return `#${key.name}`;
  const value = a.evaluate(key as Expression);
  return value.kind === 'literal' ? String(value.value) : null;
}

export function spreadInto(a: Analysis, target: ObjectValue, from: Value): void {
  if (from.kind === 'object') a.spend(from.props.size);
  if (from.kind === 'literal' && typeof from.value !== 'string') return;
  if (from.kind !== 'object') {
    target.isOpen = true;
    // Existing properties may be overwritten.
    for (const cell of target.props.values()) {
      a.memory.set(cell, unknownFrom(cell.value, from));
      cell.text = undefined;
    }
    a.memory.add(target.rest, unknownFrom(from));
    return;
  }
  for (const [key, { value, text }] of from.props) {
    const cell = target.props.get(key) ?? { value: null };
    a.memory.set(cell, value ?? NOTHING_KNOWN);
    if (text) cell.text = text;
    setProperty(target, key, cell);
  }
  if (!from.isOpen) return;
  target.isOpen = true;
  if (from.rest.value) a.memory.add(target.rest, from.rest.value);
}
