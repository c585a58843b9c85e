/** How much a value holds; what is text from outside may hold anything. */
export interface JsonWeight {
  /** About as many as its JSON has. */
  readonly characters: number;
  /** Levels of lists and objects; 0 for a text or a number. */
  readonly depth: number;
}

/** Without recursion, as what is weighed may be nested deeper than the stack. */
export function weighJson(value: unknown): JsonWeight {
  let characters = 0;
  let depth = 0;
  let level: unknown[] = [value];
  for (; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one === 'string') characters += one.length + 2;
      else if (Array.isArray(one)) {
        characters += one.length + 2;
        for (const item of one) next.push(item);
      } else if (typeof one === 'object' && one !== null) {
        for (const [key, item] of Object.entries(one)) {
          characters += key.length + 4;
          next.push(item);
        }
      } else characters += 5;
    }
    level = next;
  }
  return { characters, depth: depth - 1 };
}
