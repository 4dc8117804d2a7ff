import type { Cluster, RunningOperators } from '@bowline/control-plane/testing';
import type { Clock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';

/** Stage is where a scenario plays: a corner of the control plane in which the operator runs. */
export type Stage = Cluster & RunningOperators;

/**
 * Scenario is an operator at work: everything that it declares is used, and what comes of it is waited for with the waits of the
 * stage. That it starts, leads, keeps its webhook certificate and leads again after a restart is not part of it: that is asked
 * of every operator.
 */
export interface Scenario {
  readonly operator: Operator;
  /** open prepares one performance. */
  open(): Performance | Promise<Performance>;
}

/** Performance is a scenario with what it needs besides the cluster. */
export interface Performance extends Partial<AsyncDisposable> {
  /** The operator's section of the configuration. Defaults to none. */
  readonly config?: unknown;
  /** The operator's time. Defaults to the system's. */
  readonly clock?: Clock;
  play(stage: Stage): Promise<void>;
}
