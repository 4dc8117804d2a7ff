import type { ControlPlaneAccess } from '@bowline/control-plane';
import type { Cluster, RunningOperators } from '@bowline/control-plane/testing';
import type { Clock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';

/** Stage is the environment of a scenario: a part of the control plane in which the operator runs. */
export type Stage = Cluster & RunningOperators;

/**
 * Scenario is an operator at work: everything it declares is used, and the results are awaited with the waits of the stage.
 * Starting, leading, maintaining the webhook certificate and leading again after a restart are not part of it: they are checked
 * for every operator.
 */
export interface Scenario {
  readonly operator: Operator;
  /** Whether only one run at a time is possible, because its objects have fixed cluster-scoped names. Defaults to false. */
  readonly isExclusive?: boolean;
  /** prepare installs what no run removes, once per control plane. */
  prepare?(admin: Client): Promise<void>;
  /** open prepares one run, without a permission: `patch configmaps (ClusterRole)`, or with all of them. */
  open(controlPlane: ControlPlaneAccess, permission?: string): Performance | Promise<Performance>;
}

/** Performance is one run of a scenario with what it needs besides the cluster. */
export interface Performance extends Partial<AsyncDisposable> {
  /** The operator's section of the configuration. Defaults to none. */
  readonly config?: unknown;
  /** The operator's clock. Defaults to the system clock. */
  readonly clock?: Clock;
  play(stage: Stage): Promise<void>;
}
