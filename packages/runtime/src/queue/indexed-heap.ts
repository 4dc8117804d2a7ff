/** HeapNode is the state that an element must carry so that the heap can find it again in constant time. */
export interface HeapNode {
  /** Set by the heap: the element's index, or -1 when it is in no heap. An element is in at most one heap at a time. */
  heapIndex: number;
}

/**
 * IndexedHeap is a binary heap whose elements know their index, so any of them can be moved or removed in O(log n).
 * Re-prioritising a queued key needs this, and published heaps do not offer it.
 */
export class IndexedHeap<T extends HeapNode> {
  readonly #nodes: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** `before` is a strict total order: true when `a` is popped before `b`. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#nodes.length;
  }

  peek(): T | undefined {
    return this.#nodes[0];
  }

  push(node: T): void {
    this.#nodes.push(node);
    node.heapIndex = this.#nodes.length - 1;
    this.#up(node);
  }

  pop(): T | undefined {
    const first = this.#nodes[0];
    if (first) this.remove(first);
    return first;
  }

  /** fix restores the order after the element's rank has changed. */
  fix(node: T): void {
    this.#up(node);
    this.#down(node);
  }

  remove(node: T): void {
    const index = node.heapIndex;
    const last = this.#nodes.pop();
    node.heapIndex = -1;
    if (last === undefined || last === node) return;
    this.#place(last, index);
    this.fix(last);
  }

  clear(): T[] {
    const all = this.#nodes.splice(0);
    for (const node of all) node.heapIndex = -1;
    return all;
  }

  #place(node: T, index: number): void {
    this.#nodes[index] = node;
    node.heapIndex = index;
  }

  #up(node: T): void {
    let index = node.heapIndex;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#nodes[parentIndex];
      if (parent === undefined || !this.#before(node, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(node, index);
  }

  #down(node: T): void {
    let index = node.heapIndex;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = this.#nodes[childIndex];
      const right = this.#nodes[childIndex + 1];
      if (child !== undefined && right !== undefined && this.#before(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (child === undefined || !this.#before(child, node)) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(node, index);
  }
}
