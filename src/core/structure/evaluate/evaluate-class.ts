import type { Class, ClassElement, NewExpression } from 'oxc-parser';
import type { Analysis, Arguments } from './analysis.ts';
import { keyName } from './evaluate-literal.ts';
import { Scope } from './scope.ts';
import { NOTHING_KNOWN, type ObjectValue, objectValue, UNDEFINED, unknownFrom, type Value } from './value.ts';

/** A class is an object of its static members, with the class node for creating instances. */
export function evaluateClass(a: Analysis, node: Class): ObjectValue {
  if (node.decorators.length > 0) a.refuse(node.decorators[0]!.start, 'Decorators cannot be used');
  const parent = node.superClass ? a.evaluate(node.superClass) : null;
  const outer = a.scope;
  a.scope = new Scope(outer, false);
  const made = objectValue(false, { class: { node, scope: a.scope, parent } });
  if (node.id) a.memory.set(a.declare(node.id.name), made);
  withSelf(a, made, () => {
    for (const element of node.body.body) {
      if ('decorators' in element && element.decorators.length > 0) {
        a.refuse(element.decorators[0]!.start, 'Decorators cannot be used');
      }
      if (element.type === 'StaticBlock') a.executeAll(element.body);
      else if ('static' in element && element.static) addMember(a, made, element);
    }
  });
  // Methods exist even if no instance is ever created.
  const prototype = objectValue(false);
  withSelf(a, prototype, () => {
    for (const element of node.body.body) {
      if (element.type === 'MethodDefinition' && !element.static) addMember(a, prototype, element);
    }
  });
  a.scope = outer;
  return made;
}

/** `new Name(…)` */
export function instantiate(
  a: Analysis,
  made: ObjectValue,
  args: Arguments,
  call: NewExpression,
): ObjectValue {
  const instance = objectValue(false);
  construct(a, made, instance, args, call);
  return instance;
}

function construct(
  a: Analysis,
  made: ObjectValue,
  instance: ObjectValue,
  args: Arguments,
  call: NewExpression,
): void {
  if (!made.class) return;
  const { node, scope, parent } = made.class;
  const outer = a.scope;
  a.scope = scope;
  if (parent?.kind === 'object') construct(a, parent, instance, args, call);
  else if (parent) instance.isOpen = true;
  withSelf(a, instance, () => {
    for (const element of node.body.body) {
      if ('static' in element && !element.static) addMember(a, instance, element);
    }
  });
  a.scope = outer;
  const make = instance.props.get('constructor')?.value;
  instance.props.delete('constructor');
  if (make?.kind === 'function') a.invoke({ fn: make, args, call });
}

function addMember(a: Analysis, object: ObjectValue, element: ClassElement): void {
  if (
    element.type !== 'MethodDefinition' &&
    element.type !== 'PropertyDefinition' &&
    element.type !== 'AccessorProperty'
  ) {
    return;
  }
  const key = keyName(a, element.key, element.computed);
  const value = memberValue(a, object, element);
  if (key === null) {
    object.isOpen = true;
    a.memory.add(object.rest, unknownFrom(value));
  } else object.props.set(key, element.value ? { value, text: element.value } : { value });
}

function memberValue(
  a: Analysis,
  object: ObjectValue,
  element: Extract<ClassElement, { value: unknown }>,
): Value {
  if (!element.value) return UNDEFINED;
  if (element.type !== 'MethodDefinition') return a.evaluate(element.value as never);
  const { value: node, kind } = element;
  const fn = a.note({ kind: 'function', node, scope: a.scope, self: object });
  // The value of an accessor is unknown before the run.
  return kind === 'get' || kind === 'set' ? NOTHING_KNOWN : fn;
}

function withSelf(a: Analysis, self: Value, run: () => void): void {
  const outer = a.frame;
  a.frame = { ...outer, self };
  run();
  a.frame = outer;
}
