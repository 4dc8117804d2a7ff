import type { SpireServer } from '../api/spire-server.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Config } from '../config.ts';

/** SharedSpec is the spec of the ZeroTrustWorkloadIdentityManager. */
export type SharedSpec = ZeroTrustWorkloadIdentityManager['spec'];

/** PodSettings are the settings of pods that every operand has. */
export type PodSettings = Pick<
  SpireServer['spec'],
  | 'labels'
  | 'resources'
  | 'affinity'
  | 'tolerations'
  | 'nodeSelector'
  | 'priorityClassName'
  | 'topologySpreadConstraints'
> &
  Pick<SharedSpec, 'proxy'>;

/** OperandInput is what the objects of any operand follow from. */
export interface OperandInput {
  /** The settings of the operand's pods, combined with those of the ZeroTrustWorkloadIdentityManager. */
  readonly pods: PodSettings;
  readonly config: Config;
  readonly isOpenShift: boolean;
}

/** combinePodSettings returns the settings of an operand's pods: its own values, and the shared ones where it has none. */
export function combinePodSettings(shared: SharedSpec, own: Omit<PodSettings, 'proxy'>): PodSettings {
  return {
    labels: { ...shared.labels, ...own.labels },
    resources: {
      requests: { ...shared.resources?.requests, ...own.resources?.requests },
      limits: { ...shared.resources?.limits, ...own.resources?.limits },
    },
    affinity: own.affinity ?? shared.affinity,
    tolerations: own.tolerations ?? shared.tolerations,
    nodeSelector: own.nodeSelector ?? shared.nodeSelector,
    priorityClassName: own.priorityClassName,
    topologySpreadConstraints: own.topologySpreadConstraints,
    proxy: shared.proxy,
  };
}
