/** SortedKeys is a set of strings in the order of their code units, which is the order of lists. */
export class SortedKeys {
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    const at = this.#firstAtOrAfter(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  remove(key: string): void {
    const at = this.#firstAtOrAfter(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** from returns the keys that start with `prefix`, beginning at `start` if that is greater. */
  *from(prefix: string, start = prefix): Generator<string> {
    for (let at = this.#firstAtOrAfter(start > prefix ? start : prefix); at < this.#keys.length; at++) {
      const key = this.#keys[at] as string;
      if (!key.startsWith(prefix)) return;
      yield key;
    }
  }

  #firstAtOrAfter(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
