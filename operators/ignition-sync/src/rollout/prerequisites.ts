/** Prerequisite is a gateway that another one waits for. */
export interface Prerequisite {
  readonly kind: 'peer' | 'dependency' | 'order';
  /** The name of the pod of the gateway to wait for. */
  readonly podName: string;
}

/** Prerequisites holds what each gateway waits for, by pod name. */
export type Prerequisites = ReadonlyMap<string, readonly Prerequisite[]>;

/** From the weakest to the strongest. */
const KINDS = ['order', 'dependency', 'peer'] as const;

/** DroppedPrerequisite is a prerequisite that would have made gateways wait for each other. */
export interface DroppedPrerequisite extends Prerequisite {
  /** The pod that does not wait. */
  readonly of: string;
}

/**
 * breakCycles removes prerequisites until no gateways wait for each other: of each cycle one of the weakest kind. The result
 * does not depend on the order of the pods.
 */
export function breakCycles(prerequisites: Prerequisites): {
  readonly prerequisites: Prerequisites;
  readonly dropped: readonly DroppedPrerequisite[];
} {
  const left = new Map([...prerequisites].sort(([a], [b]) => (a < b ? -1 : 1)));
  const dropped: DroppedPrerequisite[] = [];
  const settled = new Set<string>();
  for (;;) {
    settle(left, settled);
    const start = [...left.keys()].find((podName) => !settled.has(podName));
    if (start === undefined) return { prerequisites: left, dropped };
    const weakest = weakestOf(findCycle(left, settled, start));
    dropped.push(weakest);
    const { of, podName, kind } = weakest;
    const others = (left.get(of) ?? []).filter((each) => each.podName !== podName || each.kind !== kind);
    left.set(of, others);
  }
}

/** settle adds the pods that wait for settled ones only, until there are no more. */
function settle(prerequisites: Prerequisites, settled: Set<string>): void {
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const [podName, needed] of prerequisites) {
      if (settled.has(podName) || needed.some((each) => isOpen(each.podName, prerequisites, settled))) continue;
      settled.add(podName);
      isChanged = true;
    }
  }
}

/** findCycle follows open prerequisites. Every pod that is not settled has one, so that a pod is reached twice. */
function findCycle(
  prerequisites: Prerequisites,
  settled: ReadonlySet<string>,
  start: string,
): readonly DroppedPrerequisite[] {
  const path: DroppedPrerequisite[] = [];
  const indexes = new Map<string, number>();
  let of = start;
  while (!indexes.has(of)) {
    indexes.set(of, path.length);
    const next = (prerequisites.get(of) ?? []).find((each) => isOpen(each.podName, prerequisites, settled));
    if (next === undefined) break;
    path.push({ ...next, of });
    of = next.podName;
  }
  return path.slice(indexes.get(of) ?? 0);
}

function isOpen(podName: string, prerequisites: Prerequisites, settled: ReadonlySet<string>): boolean {
  return prerequisites.has(podName) && !settled.has(podName);
}

function weakestOf(cycle: readonly DroppedPrerequisite[]): DroppedPrerequisite {
  for (const kind of KINDS) {
    const found = cycle.find((each) => each.kind === kind);
    if (found !== undefined) return found;
  }
  throw new Error('a cycle has at least one prerequisite');
}
