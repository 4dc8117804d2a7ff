/** Edge means that a ConfigMapSync writes one ConfigMap (`namespace/name`) from another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** The ConfigMapSync, `namespace/name`. */
  readonly by: string;
}

/** Loops holds the paths by which the content that a ConfigMapSync writes returns to its source. */
export interface Loops {
  /** Its own edges with a path back. */
  readonly closing: readonly Edge[];
  /** The edges of others on those paths. */
  readonly back: readonly Edge[];
}

/**
 * findLoops finds the loops of a ConfigMapSync. Its own edges do not form a path back: a two-way sync has an edge in
 * either direction, and is not a loop by itself.
 */
export function findLoops(edges: readonly Edge[], of: string): Loops {
  const own = edges.filter(({ by }) => by === of);
  const others = edges.filter(({ by }) => by !== of);
  const forward = neighbours(others.map(({ from, to }) => [from, to]));
  const backward = neighbours(others.map(({ from, to }) => [to, from]));
  const loops = { closing: new Set<Edge>(), back: new Set<Edge>() };
  for (const source of new Set(own.map(({ from }) => from))) {
    const returning = reachedFrom([source], backward);
    const closing = own.filter(({ from, to }) => from === source && returning.has(to));
    const reached = reachedFrom(
      closing.map(({ to }) => to),
      forward,
    );
    for (const edge of closing) loops.closing.add(edge);
    for (const edge of others) if (reached.has(edge.from) && returning.has(edge.to)) loops.back.add(edge);
  }
  return { closing: [...loops.closing], back: [...loops.back] };
}

function neighbours(pairs: Iterable<readonly [string, string]>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [node, next] of pairs) {
    const known = found.get(node);
    if (known) known.push(next);
    else found.set(node, [next]);
  }
  return found;
}

function reachedFrom(starts: Iterable<string>, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(starts);
  // A Set can be iterated while it grows.
  for (const node of reached) for (const each of next.get(node) ?? []) reached.add(each);
  return reached;
}
