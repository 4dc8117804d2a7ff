import {
  ConfigMap,
  Deployment,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '@bowline/kubernetes';
import type { OperandCleanup } from '../operand/clean-up.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';

/** oidcCleanup is what is deleted with a SpireOIDCDiscoveryProvider. */
export const oidcCleanup: OperandCleanup = {
  kind: 'SpireOIDCDiscoveryProvider',
  component: 'discovery',
  tiers: [
    { name: 'entry points', kinds: [Route, TLSRoute, HTTPRoute, Ingress, PodDisruptionBudget] },
    { name: 'workload', kinds: [Deployment] },
    { name: 'objects', kinds: [ConfigMap, Secret, Service, RoleBinding, Role, ServiceAccount, ClusterSPIFFEID] },
  ],
};
