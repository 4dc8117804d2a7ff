import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  PodDisruptionBudget,
  type Resource,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';

/** CHILD_KINDS are the kinds of objects that operands have on every cluster. */
export const CHILD_KINDS: readonly Resource<KubernetesObject>[] = [
  ServiceAccount,
  Role,
  RoleBinding,
  ClusterRole,
  ClusterRoleBinding,
  Service,
  ConfigMap,
  ValidatingWebhookConfiguration,
  PodDisruptionBudget,
  ClusterSPIFFEID,
  CSIDriver,
  StatefulSet,
  DaemonSet,
  Deployment,
];
