import type { KubernetesObject, Resource } from '@bowline/kubernetes';

/** CreatedWorkloads selects workloads that an operator creates. */
export interface CreatedWorkloads {
  readonly resource: Resource<KubernetesObject>;
  /** Requires at least one label, which only this operator sets. */
  readonly labelSelector: string;
}
