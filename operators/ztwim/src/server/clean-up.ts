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
import type { OperandCleanup } from '../operand/clean-up.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';

/** serverCleanup is what is deleted with a SpireServer. */
export const serverCleanup: OperandCleanup = {
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
