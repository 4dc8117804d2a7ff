import type { DaemonSet, KubernetesObject, Resource } from '@bowline/kubernetes';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';

/**
 * StepState is the state of a step:
 * - `planned`: the next run performs it;
 * - `later`: earlier steps come first;
 * - `blocked`: a person has to act first;
 * - `waiting`: it is performed by a run after the pool is Ready;
 * - `optional`: nothing depends on it, and a person decides;
 * - `done`, `failed`: this run performed it, or tried to.
 */
export type StepState = 'planned' | 'later' | 'blocked' | 'waiting' | 'optional' | 'done' | 'failed';

/** Step is one part of a migration. */
export interface Step {
  readonly state: StepState;
  /** The kind and name of the object: `HSMDevice shop/pico`. */
  readonly object: string;
  /** What was found, or what is done with the object. */
  readonly action: string;
  /** What to do next. */
  readonly next?: string | undefined;
}

/** PlannedStep is a step before it is performed. Only a step in state `planned` has a change. */
export interface PlannedStep extends Step {
  readonly change?: Change | undefined;
}

/** Change is one change of the cluster, computed from objects as they were read. */
export type Change =
  | { readonly type: 'save'; readonly device: HSMDevice; readonly saved: string }
  | { readonly type: 'rewrite'; readonly device: HSMDevice }
  | {
      readonly type: 'drop-status';
      readonly resource: Resource<KubernetesObject>;
      readonly object: KubernetesObject;
    }
  | { readonly type: 'write-pool'; readonly device: HSMDevice }
  | { readonly type: 'complete-pool'; readonly device: HSMDevice; readonly pool: HSMPool }
  | { readonly type: 'replace-discovery'; readonly device: HSMDevice; readonly daemonSet: DaemonSet }
  | {
      readonly type: 'delete';
      readonly resource: Resource<KubernetesObject>;
      readonly object: KubernetesObject;
      readonly isOlder: (object: KubernetesObject) => boolean;
    };

/** isOpen reports whether a step is left that somebody has to act on, or wait for. */
export function isOpen({ state }: Step): boolean {
  return state !== 'done' && state !== 'optional';
}
