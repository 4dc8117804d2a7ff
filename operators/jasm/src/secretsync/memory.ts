import { keyString } from '@bowline/kubernetes';
import type { PodView } from '../pods/pod-view.ts';
import type { Problem } from './problem.ts';

/** Failure is a failed read or write that does not succeed until someone changes something. */
export interface Failure {
  readonly problem: Problem;
  /** The request at the time of the failure: a changed request is tried at once. */
  readonly requestHash: string;
  readonly forced: string | undefined;
  readonly pods: ReadonlySet<string>;
  /** The keys of the Secret at that time if it is not ours: only its owner can remove the conflicting keys. */
  readonly foreignKeys: string | undefined;
  /** The number of consecutive failures. */
  readonly count: number;
  /** When it is retried even if nothing changes, and the length of the delay. Infinity: never. */
  readonly until: number;
  readonly delayMs: number;
  /** The version whose content is the problem. Undefined if the content is not the problem. */
  readonly version: string | undefined;
}

/**
 * Repairs counts how often in a row a Secret was created or repaired, and when last. It slows down repairs while
 * another client keeps reverting them.
 */
export interface Repairs {
  readonly count: number;
  readonly at: number;
}

const NO_REPAIRS: Repairs = Object.freeze({ count: 0, at: 0 });

/** A Secret that needed no repair for this long counts as settled. */
const SETTLED_AFTER_MS = 600_000;

/** countRepair counts one more repair. */
export function countRepair({ count, at }: Repairs, now: number): Repairs {
  return { count: now - at > SETTLED_AFTER_MS ? 1 : count + 1, at: now };
}

/** The number of consecutive repairs that are made without delay. */
const IMMEDIATE_REPAIRS = 5;

/** nextRepairAt returns when the Secret may be repaired again. */
export function nextRepairAt({ count, at }: Repairs): number {
  return count < IMMEDIATE_REPAIRS ? at : at + Math.min(1_000 * 2 ** (count - IMMEDIATE_REPAIRS), SETTLED_AFTER_MS);
}

/** SecretMemory holds what the process remembers about one Secret. All times are monotonic. */
export interface SecretMemory {
  /** The hash of the request that was last read, or found in place, for each pod, by uid. */
  readonly handledRequests: Map<string, string>;
  /** When the source was last read; after a restart, when the Secret was first observed. */
  readAt: number | undefined;
  /** Since when no pod requests it. */
  unrequestedSince: number | undefined;
  /** The request that the last run worked on. */
  activeRequest: ActiveRequest | undefined;
  failure: Failure | undefined;
  /** The recent repairs of its content. */
  repairs: Repairs;
  /** The recent repairs of its annotations and labels. */
  metadataRepairs: Repairs;
  /** The restarted workloads, by id: the restart value that their template has, or may get at `againAt`. */
  readonly restarted: Map<string, { readonly value: string; readonly againAt: number | undefined }>;
}

/** ActiveRequest is the request that a run worked on, and since when. */
export interface ActiveRequest {
  /**
   * The request that was read for, or will be when a delay is over. Undefined if there was no reason to read, or an
   * obstacle.
   */
  readonly requestHash: string | undefined;
  /** The instant after which the reason to read arose. */
  readonly since: number;
  /** The instant of the run. */
  readonly at: number;
}

/**
 * readNeededSince returns the instant after which the reason to read for a request arose: that of the last run that did
 * not want to read, because of an obstacle or because another request was served. Pods may have waited much longer for
 * that to end.
 */
export function readNeededSince(before: ActiveRequest | undefined, requestHash: string): number {
  if (!before) return Number.NEGATIVE_INFINITY;
  return before.requestHash === requestHash ? before.since : before.at;
}

/** ObservedPod is a pod with a request, and when the request was first observed. */
interface ObservedPod extends Pick<PodView, 'uid' | 'annotation' | 'forceSync'> {
  readonly at: number;
  /** Whether the pod existed with this request when the process started. */
  readonly isInitial: boolean;
}

/**
 * SyncMemory holds what one process remembers to save calls and writes. All of it may be lost: a new process finds the
 * remaining work in the cluster, at the cost of one version request per source.
 */
export class SyncMemory {
  readonly #secrets = new Map<string, SecretMemory>();
  readonly #pods = new Map<string, ObservedPod>();
  #isInitialized = false;

  /**
   * recordInitialPods records all pods that exist when the process starts, once. They share one instant, and therefore
   * also the calls made then.
   */
  recordInitialPods(pods: () => readonly PodView[], now: number): void {
    if (this.#isInitialized) return;
    this.#isInitialized = true;
    for (const pod of pods()) this.#record(pod, now, true);
  }

  /**
   * observePod returns when the current request of a pod was first observed. Call it only for a pod that exists; see
   * `forgetPod`.
   */
  observePod(pod: PodView, now: number): ObservedPod {
    const known = this.#pods.get(keyString(pod));
    const isSame = known?.uid === pod.uid && known.annotation === pod.annotation && known.forceSync === pod.forceSync;
    return isSame ? known : this.#record(pod, now, false);
  }

  #record(pod: PodView, at: number, isInitial: boolean): ObservedPod {
    const { uid, annotation, forceSync } = pod;
    const observed = { uid, annotation, forceSync, at, isInitial };
    this.#pods.set(keyString(pod), observed);
    return observed;
  }

  /** forgetPod drops a pod that is gone or requests nothing any more; its key is `namespace/name`. */
  forgetPod(key: string): void {
    this.#pods.delete(key);
  }

  /** of returns the memory of a Secret; its key is `namespace/name`. */
  of(key: string): SecretMemory {
    let memory = this.#secrets.get(key);
    if (!memory) {
      memory = {
        handledRequests: new Map(),
        readAt: undefined,
        unrequestedSince: undefined,
        activeRequest: undefined,
        failure: undefined,
        repairs: NO_REPAIRS,
        metadataRepairs: NO_REPAIRS,
        restarted: new Map(),
      };
      this.#secrets.set(key, memory);
    }
    return memory;
  }

  /** forget drops a Secret that is gone and that no pod requests. */
  forget(key: string): void {
    this.#secrets.delete(key);
  }
}
