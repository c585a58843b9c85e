/** The names of one block or function, and of the scopes around it. */
export class Scope<Cell> {
  readonly #cells = new Map<string, Cell>();
  readonly #parent: Scope<Cell> | null;
  /** The scope of `var` declarations. */
  readonly ofFunction: Scope<Cell>;

  constructor(parent: Scope<Cell> | null, isFunction: boolean) {
    this.#parent = parent;
    this.ofFunction = isFunction || !parent ? this : parent.ofFunction;
  }

  /** A name that is declared twice keeps its cell. */
  declare(name: string, cell: Cell): Cell {
    const known = this.#cells.get(name);
    if (known) return known;
    this.#cells.set(name, cell);
    return cell;
  }

  find(name: string): Cell | null {
    for (let scope: Scope<Cell> | null = this; scope; scope = scope.#parent) {
      const cell = scope.#cells.get(name);
      if (cell) return cell;
    }
    return null;
  }
}
