import type { Pod } from '@bowline/kubernetes';

/** AwaitedClaim is a claim that another controller binds before its Pod gets a node. */
export interface AwaitedClaim {
  readonly name: string;
  /** The volume that is reserved for it; undefined if one is provisioned. */
  readonly volume: string | undefined;
}

/** AssumedPod is a Pod and the node that it is going to run on. */
export interface AssumedPod {
  readonly pod: Pod;
  readonly node: string;
  /** The claims that have to be bound first. */
  readonly awaited: readonly AwaitedClaim[];
}

/** The delays before the scheduler tries again: those of the real one. */
const MIN_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 10_000;

/**
 * AssumedPods holds the nodes of Pods that wait for their claims or whose update has not arrived yet, so that no capacity
 * is used twice. It also remembers when to try again to bind the claims of a Pod.
 */
export class AssumedPods {
  readonly #pods = new Map<string, AssumedPod>();
  readonly #retries = new Map<string, { readonly at: number; readonly backoffMs: number }>();

  assume(key: string, assumed: AssumedPod): void {
    this.#pods.set(key, assumed);
  }

  get(key: string): AssumedPod | undefined {
    return this.#pods.get(key);
  }

  /** release frees the capacity that was assumed for a Pod. */
  release(key: string): void {
    this.#pods.delete(key);
  }

  /** forget removes everything about a Pod that has a node or is gone. */
  forget(key: string): void {
    this.release(key);
    this.#retries.delete(key);
  }

  on(node: string): readonly Pod[] {
    return [...this.#pods.values()].filter((each) => each.node === node).map(({ pod }) => pod);
  }

  /** backOff delays the next attempt for a Pod, each time for longer, and returns for how long. */
  backOff(key: string, now: number): number {
    const before = this.#retries.get(key)?.backoffMs ?? 0;
    const backoffMs = Math.min(Math.max(before * 2, MIN_BACKOFF_MS), MAX_BACKOFF_MS);
    this.#retries.set(key, { at: now + backoffMs, backoffMs });
    return backoffMs;
  }

  /** waitMs returns how long to wait until the next attempt for a Pod; 0 if it may start. */
  waitMs(key: string, now: number): number {
    return Math.max(0, (this.#retries.get(key)?.at ?? now) - now);
  }
}
