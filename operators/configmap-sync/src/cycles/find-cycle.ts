/** Edge says that a ConfigMapSync writes one ConfigMap (`namespace/name`) from another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** The ConfigMapSync, `namespace/name`. */
  readonly by: string;
}

/**
 * findCycle looks for a way by which what a ConfigMapSync writes comes back to where it came from, and gives the ConfigMaps
 * on it, first and last the same. What the ConfigMapSync does itself is not a way back: one that syncs both ways has an edge
 * in either direction, and is no cycle alone.
 */
export function findCycle(edges: readonly Edge[], of: string): readonly string[] | undefined {
  const others = new Map<string, string[]>();
  for (const { from, to, by } of edges) {
    if (by === of) continue;
    const known = others.get(from);
    if (known) known.push(to);
    else others.set(from, [to]);
  }
  // A destination that nobody copies further, as almost all are, ends the search at once.
  for (const edge of edges) {
    if (edge.by !== of || !others.has(edge.to)) continue;
    const back = shortestPath(others, edge.to, edge.from);
    if (back) return [edge.from, ...back];
  }
  return undefined;
}

function shortestPath(next: ReadonlyMap<string, readonly string[]>, start: string, end: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  // A Map can be walked while it grows, in the order in which nodes were found.
  for (const node of cameFrom.keys()) {
    if (node === end) return pathTo(cameFrom, end);
    for (const each of next.get(node) ?? []) if (!cameFrom.has(each)) cameFrom.set(each, node);
  }
  return undefined;
}

function pathTo(cameFrom: ReadonlyMap<string, string | undefined>, end: string): string[] {
  const path: string[] = [];
  for (let node: string | undefined = end; node !== undefined; node = cameFrom.get(node)) path.unshift(node);
  return path;
}
