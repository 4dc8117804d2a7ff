import type { Api } from '../../support/api.ts';
import type { OpenedScene } from '../../support/scene.ts';
import type { Plan } from './plan.ts';
import type { RecordedWrites } from './recorded-writes.ts';

/** LABEL is the name of the operator in results. */
export const LABEL = 'Bowline ztwim';

/** The number of requests in flight of the bare loop: the default of the runtime. */
export const inFlight = 32;

/** MANAGER_NAMESPACE is the namespace of the Lease and of the certificates, as in `runOperator`. */
export const MANAGER_NAMESPACE = 'default';

/** OPERAND_NAMESPACE is the namespace of the objects that the operator writes: its default. */
export const OPERAND_NAMESPACE = 'zero-trust-workload-identity-manager';

/** ZtwimScene is the environment of every measurement of this suite. */
export interface ZtwimScene extends OpenedScene {
  readonly plan: Plan;
  readonly api: Api;
  /** Results of earlier steps for later ones. */
  readonly known: Known;
}

/** Known holds what was installed, and what the operator writes. */
export interface Known {
  /** The kubeconfig of the operator's own account. */
  kubeconfig?: string;
  /** The port at which webhooks are served, the same after a restart. */
  webhookPort?: number;
  writes?: RecordedWrites;
}
