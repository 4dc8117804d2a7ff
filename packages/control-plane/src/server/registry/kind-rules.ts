import type { KindRules } from './built-in-strategy.ts';
import { configMapRules } from './kinds/config-map.ts';
import { controllerRevisionRules } from './kinds/controller-revision.ts';
import { csiDriverRules } from './kinds/csi-driver.ts';
import { daemonSetRules } from './kinds/daemon-set.ts';
import { deploymentRules } from './kinds/deployment.ts';
import { endpointSliceRules } from './kinds/endpoint-slice.ts';
import { endpointsRules } from './kinds/endpoints.ts';
import { eventRules, youngerEventRules } from './kinds/event.ts';
import { horizontalPodAutoscalerRules } from './kinds/horizontal-pod-autoscaler.ts';
import { ingressRules } from './kinds/ingress.ts';
import { ingressClassRules } from './kinds/ingress-class.ts';
import { jobRules } from './kinds/job.ts';
import { leaseRules } from './kinds/lease.ts';
import { limitRangeRules } from './kinds/limit-range.ts';
import { namespaceRules } from './kinds/namespace.ts';
import { networkPolicyRules } from './kinds/network-policy.ts';
import { nodeRules } from './kinds/node.ts';
import { persistentVolumeRules } from './kinds/persistent-volume.ts';
import { persistentVolumeClaimRules } from './kinds/persistent-volume-claim.ts';
import { podRules } from './kinds/pod.ts';
import { podDisruptionBudgetRules } from './kinds/pod-disruption-budget.ts';
import { priorityClassRules } from './kinds/priority-class.ts';
import { replicaSetRules } from './kinds/replica-set.ts';
import { resourceQuotaRules } from './kinds/resource-quota.ts';
import { clusterRoleRules, roleRules } from './kinds/role.ts';
import { clusterRoleBindingRules, roleBindingRules } from './kinds/role-binding.ts';
import { secretRules } from './kinds/secret.ts';
import { serviceRules } from './kinds/service.ts';
import { serviceAccountRules } from './kinds/service-account.ts';
import { statefulSetRules } from './kinds/stateful-set.ts';
import { storageClassRules } from './kinds/storage-class.ts';
import { mutatingWebhookRules, validatingWebhookRules } from './kinds/webhook-configuration.ts';

/** KIND_RULES are what is special about built-in kinds, by `Kind.group`. A kind without an entry is as all are. */
export const KIND_RULES: Readonly<Record<string, KindRules>> = {
  'CSIDriver.storage.k8s.io': csiDriverRules,
  'ClusterRole.rbac.authorization.k8s.io': clusterRoleRules,
  'ClusterRoleBinding.rbac.authorization.k8s.io': clusterRoleBindingRules,
  'ConfigMap.': configMapRules,
  'ControllerRevision.apps': controllerRevisionRules,
  'DaemonSet.apps': daemonSetRules,
  'Deployment.apps': deploymentRules,
  'EndpointSlice.discovery.k8s.io': endpointSliceRules,
  'Endpoints.': endpointsRules,
  'Event.': eventRules,
  'Event.events.k8s.io': youngerEventRules,
  'HorizontalPodAutoscaler.autoscaling': horizontalPodAutoscalerRules,
  'Ingress.networking.k8s.io': ingressRules,
  'IngressClass.networking.k8s.io': ingressClassRules,
  'Job.batch': jobRules,
  'Lease.coordination.k8s.io': leaseRules,
  'LimitRange.': limitRangeRules,
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': mutatingWebhookRules,
  'Namespace.': namespaceRules,
  'NetworkPolicy.networking.k8s.io': networkPolicyRules,
  'Node.': nodeRules,
  'PersistentVolume.': persistentVolumeRules,
  'PersistentVolumeClaim.': persistentVolumeClaimRules,
  'Pod.': podRules,
  'PodDisruptionBudget.policy': podDisruptionBudgetRules,
  'PriorityClass.scheduling.k8s.io': priorityClassRules,
  'ReplicaSet.apps': replicaSetRules,
  'ResourceQuota.': resourceQuotaRules,
  'Role.rbac.authorization.k8s.io': roleRules,
  'RoleBinding.rbac.authorization.k8s.io': roleBindingRules,
  'Secret.': secretRules,
  'Service.': serviceRules,
  'ServiceAccount.': serviceAccountRules,
  'StatefulSet.apps': statefulSetRules,
  'StorageClass.storage.k8s.io': storageClassRules,
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': validatingWebhookRules,
};
