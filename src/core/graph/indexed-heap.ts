/** A binary heap of whole numbers, least key first; ties by the lower number. Keys may change. */
export class IndexedHeap {
  #items: Int32Array;
  #keys: Float64Array;
  /** Position of each item in the heap, plus 1; 0 if it is not in the heap. */
  #places: Int32Array;
  #length = 0;

  /** Items from `size` on are allowed and make the arrays grow. */
  constructor(size: number) {
    this.#items = new Int32Array(size);
    this.#keys = new Float64Array(size);
    this.#places = new Int32Array(size);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds the item, or moves it to the position of its new key. */
  set(item: number, key: number): void {
    if (item >= this.#places.length) this.#grow(2 * item + 1);
    const place = this.#places[item]!;
    this.#keys[item] = key;
    if (place === 0) this.#up(this.#length++, item);
    else if (!this.#up(place - 1, item)) this.#down(place - 1, item);
  }

  delete(item: number): void {
    const place = this.#places[item];
    if (!place) return;
    this.#places[item] = 0;
    const moved = this.#items[--this.#length]!;
    if (moved !== item && !this.#up(place - 1, moved)) this.#down(place - 1, moved);
  }

  /** Removes the item with the least key; the heap must not be empty. */
  pop(): number {
    const least = this.#items[0]!;
    this.delete(least);
    return least;
  }

  #grow(size: number): void {
    const [items, keys, places] = [new Int32Array(size), new Float64Array(size), new Int32Array(size)];
    items.set(this.#items);
    keys.set(this.#keys);
    places.set(this.#places);
    [this.#items, this.#keys, this.#places] = [items, keys, places];
  }

  #isLess(a: number, b: number): boolean {
    const [keyA, keyB] = [this.#keys[a]!, this.#keys[b]!];
    return keyA < keyB || (keyA === keyB && a < b);
  }

  /** True if the item moved. */
  #up(from: number, item: number): boolean {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#items[parent]!;
      if (!this.#isLess(item, above)) break;
      this.#put(place, above);
      place = parent;
    }
    this.#put(place, item);
    return place !== from;
  }

  #down(from: number, item: number): void {
    let place = from;
    for (let child = 2 * place + 1; child < this.#length; child = 2 * place + 1) {
      const right = child + 1;
      if (right < this.#length && this.#isLess(this.#items[right]!, this.#items[child]!)) child = right;
      const below = this.#items[child]!;
      if (!this.#isLess(below, item)) break;
      this.#put(place, below);
      place = child;
    }
    this.#put(place, item);
  }

  #put(place: number, item: number): void {
    this.#items[place] = item;
    this.#places[item] = place + 1;
  }
}
