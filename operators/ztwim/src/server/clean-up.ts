import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import type { SpireServer } from '../api/spire-server.ts';
import type { OperandCleanup } from '../operand/clean-up.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';
import { VolumeSnapshot } from '../third-party/volume-snapshot.ts';
import { backUpClaims, wantsBackup } from './backup.ts';

/** serverKinds are the kinds of the objects of a SpireServer in the order in which they are deleted. */
export const serverKinds: Pick<OperandCleanup, 'kind' | 'component' | 'tiers'> = {
  kind: 'SpireServer',
  component: 'control-plane',
  tiers: [
    {
      name: 'entry points',
      kinds: [ValidatingWebhookConfiguration, Route, TLSRoute, HTTPRoute, Ingress, PodDisruptionBudget],
    },
    { name: 'workload', kinds: [StatefulSet] },
    {
      name: 'objects',
      kinds: [
        ConfigMap,
        Secret,
        Service,
        RoleBinding,
        Role,
        ClusterRoleBinding,
        ClusterRole,
        ServiceAccount,
        ClusterSPIFFEID,
      ],
    },
  ],
};

/** serverCleanup returns what is deleted with a SpireServer. */
export function serverCleanup(object: SpireServer): OperandCleanup {
  if (!wantsBackup(object.spec)) return serverKinds;
  return { ...serverKinds, finish: (run, isServed) => backUpClaims(run, object, isServed(VolumeSnapshot)) };
}
