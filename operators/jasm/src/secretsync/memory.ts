import { keyString } from '@bowline/kubernetes';
import type { PodView } from '../pods/pod-view.ts';
import type { Problem } from './problem.ts';

/** Failure is a read or a write that only helps when somebody does something. */
export interface Failure {
  readonly problem: Problem;
  /** What was asked when it failed: what is asked anew is tried at once. */
  readonly requestHash: string;
  readonly forced: string | undefined;
  readonly pods: ReadonlySet<string>;
  /** The keys of the Secret then, where it is not ours: what is in the way there is others' to take away. */
  readonly foreignKeys: string | undefined;
  /** How many times in a row. */
  readonly count: number;
  /** When it is tried again even if nothing happens, and how long the wait is. Infinity: not at all. */
  readonly until: number;
  readonly delayMs: number;
  /** The version whose content is the problem. Undefined: something else is. */
  readonly version: string | undefined;
}

/** Repairs are how often a Secret was made or put right in a row, and when last: whoever fights us for it must not make us quick. */
export interface Repairs {
  readonly count: number;
  readonly at: number;
}

const NO_REPAIRS: Repairs = Object.freeze({ count: 0, at: 0 });

/** What is left alone for so long is at peace. */
const PEACE_MS = 600_000;

/** repairedAgain counts one more. */
export function repairedAgain({ count, at }: Repairs, now: number): Repairs {
  return { count: now - at > PEACE_MS ? 1 : count + 1, at: now };
}

/** So many times in a row a Secret is put right at once. */
const QUICK_REPAIRS = 5;

/** repairableAt is when it may be put right again. */
export function repairableAt({ count, at }: Repairs): number {
  return count < QUICK_REPAIRS ? at : at + Math.min(1_000 * 2 ** (count - QUICK_REPAIRS), PEACE_MS);
}

/** SecretMemory is what is remembered of one Secret. All times are monotonic. */
export interface SecretMemory {
  /** What was last read, or found in place, for each pod: by uid the hash of its request. */
  readonly answered: Map<string, string>;
  /** When the source was last read; after a restart, when the Secret was first looked at. */
  readAt: number | undefined;
  /** Since when nobody asks for it. */
  unaskedSince: number | undefined;
  /** What the last run was about. */
  pursuit: Pursuit | undefined;
  failure: Failure | undefined;
  /** How often it was put right lately, and when last. */
  repairs: Repairs;
  /** The same of what it says about itself. */
  markings: Repairs;
  /** Which workloads were restarted: by id the mark that their template has, or may get at an instant. */
  readonly restarted: Map<string, { readonly value: string; readonly againAt: number | undefined }>;
}

/** Pursuit is what a run was about, and since when. */
export interface Pursuit {
  /** The request that was read for, or will be when a wait is over. Undefined: none, there was no reason or something in the way. */
  readonly requestHash: string | undefined;
  /** The instant after which the reason to arose. */
  readonly since: number;
  /** The instant of the run. */
  readonly at: number;
}

/**
 * pursuedSince is the instant after which the reason to read for a request arose: that of the last run that did not want to, because
 * something was in the way or another request was served. Pods may have waited for that to end for much longer.
 */
export function pursuedSince(before: Pursuit | undefined, requestHash: string): number {
  if (!before) return Number.NEGATIVE_INFINITY;
  return before.requestHash === requestHash ? before.since : before.at;
}

/** SeenPod is a pod that asks something, and when that was first seen. */
interface SeenPod extends Pick<PodView, 'uid' | 'annotation' | 'forceSync'> {
  readonly at: number;
  /** It was there, and asked this, when the work began. */
  readonly isInitial: boolean;
}

/**
 * SyncMemory is what one process remembers to save calls and writes. Everything in it may be lost: a new process finds out in the
 * cluster what is left to do, for one question per source about its version.
 */
export class SyncMemory {
  readonly #secrets = new Map<string, SecretMemory>();
  readonly #pods = new Map<string, SeenPod>();
  #hasBegun = false;

  /** begin takes all pods that are there when the work begins, once: they share one instant, and with it the calls of that time. */
  begin(pods: () => readonly PodView[], now: number): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const pod of pods()) this.#see(pod, now, true);
  }

  /** notice remembers when a pod was first seen to ask what it asks. Only of a pod that is there: see `forgetPod`. */
  notice(pod: PodView, now: number): SeenPod {
    const known = this.#pods.get(keyString(pod));
    const isSame = known?.uid === pod.uid && known.annotation === pod.annotation && known.forceSync === pod.forceSync;
    return isSame ? known : this.#see(pod, now, false);
  }

  #see(pod: PodView, at: number, isInitial: boolean): SeenPod {
    const { uid, annotation, forceSync } = pod;
    const seen = { uid, annotation, forceSync, at, isInitial };
    this.#pods.set(keyString(pod), seen);
    return seen;
  }

  /** forgetPod is for a pod that is gone or asks no more; its key is `namespace/name`. */
  forgetPod(key: string): void {
    this.#pods.delete(key);
  }

  /** of is the memory of a Secret; its key is `namespace/name`. */
  of(key: string): SecretMemory {
    let memory = this.#secrets.get(key);
    if (!memory) {
      memory = {
        answered: new Map(),
        readAt: undefined,
        unaskedSince: undefined,
        pursuit: undefined,
        failure: undefined,
        repairs: NO_REPAIRS,
        markings: NO_REPAIRS,
        restarted: new Map(),
      };
      this.#secrets.set(key, memory);
    }
    return memory;
  }

  /** forget is for a Secret that is gone and that nobody asks for. */
  forget(key: string): void {
    this.#secrets.delete(key);
  }
}
