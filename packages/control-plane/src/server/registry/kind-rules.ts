import type { KindRules } from './built-in-strategy.ts';
import { validatingAdmissionPolicyRules } from './kinds/admissionregistration/validating-admission-policy.ts';
import { validatingAdmissionPolicyBindingRules } from './kinds/admissionregistration/validating-admission-policy-binding.ts';
import { mutatingWebhookRules, validatingWebhookRules } from './kinds/admissionregistration/webhook-configuration.ts';
import { controllerRevisionRules } from './kinds/apps/controller-revision.ts';
import { daemonSetRules } from './kinds/apps/daemon-set.ts';
import { deploymentRules } from './kinds/apps/deployment.ts';
import { replicaSetRules } from './kinds/apps/replica-set.ts';
import { statefulSetRules } from './kinds/apps/stateful-set.ts';
import { horizontalPodAutoscalerRules } from './kinds/autoscaling/horizontal-pod-autoscaler.ts';
import { jobRules } from './kinds/batch/job.ts';
import { configMapRules } from './kinds/core/config-map.ts';
import { endpointsRules } from './kinds/core/endpoints.ts';
import { eventRules, newerEventRules } from './kinds/core/event.ts';
import { limitRangeRules } from './kinds/core/limit-range.ts';
import { namespaceRules } from './kinds/core/namespace.ts';
import { nodeRules } from './kinds/core/node.ts';
import { persistentVolumeRules } from './kinds/core/persistent-volume.ts';
import { persistentVolumeClaimRules } from './kinds/core/persistent-volume-claim.ts';
import { podRules } from './kinds/core/pod/pod.ts';
import { resourceQuotaRules } from './kinds/core/resource-quota.ts';
import { secretRules } from './kinds/core/secret.ts';
import { serviceRules } from './kinds/core/service/service.ts';
import { endpointSliceRules } from './kinds/endpoint-slice.ts';
import { leaseRules } from './kinds/lease.ts';
import { ingressRules } from './kinds/networking/ingress.ts';
import { ingressClassRules } from './kinds/networking/ingress-class.ts';
import { networkPolicyRules } from './kinds/networking/network-policy.ts';
import { podDisruptionBudgetRules } from './kinds/pod-disruption-budget.ts';
import { priorityClassRules } from './kinds/priority-class.ts';
import { clusterRoleRules, roleRules } from './kinds/rbac/role.ts';
import { clusterRoleBindingRules, roleBindingRules } from './kinds/rbac/role-binding.ts';
import { csiDriverRules } from './kinds/storage/csi-driver.ts';
import { storageClassRules } from './kinds/storage/storage-class.ts';

/** KIND_RULES holds the rules of built-in kinds, by `Kind.group`. A kind without an entry uses the defaults. */
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
  'Event.events.k8s.io': newerEventRules,
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
  'ServiceAccount.': { returnsDeletedObject: true },
  'StatefulSet.apps': statefulSetRules,
  'StorageClass.storage.k8s.io': storageClassRules,
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': validatingAdmissionPolicyRules,
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': validatingAdmissionPolicyBindingRules,
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': validatingWebhookRules,
};
