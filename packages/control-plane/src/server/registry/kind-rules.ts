import type { KindRules } from './built-in-strategy.ts';
import { configMapRules } from './kinds/config-map.ts';
import { controllerRevisionRules } from './kinds/controller-revision.ts';
import { daemonSetRules } from './kinds/daemon-set.ts';
import { deploymentRules } from './kinds/deployment.ts';
import { horizontalPodAutoscalerRules } from './kinds/horizontal-pod-autoscaler.ts';
import { jobRules } from './kinds/job.ts';
import { nodeRules } from './kinds/node.ts';
import { podRules } from './kinds/pod.ts';
import { podDisruptionBudgetRules } from './kinds/pod-disruption-budget.ts';
import { replicaSetRules } from './kinds/replica-set.ts';
import { statefulSetRules } from './kinds/stateful-set.ts';

/** KIND_RULES are what is special about built-in kinds, by `Kind.group`. A kind without an entry is as all are. */
export const KIND_RULES: Readonly<Record<string, KindRules>> = {
  'ConfigMap.': configMapRules,
  'ControllerRevision.apps': controllerRevisionRules,
  'DaemonSet.apps': daemonSetRules,
  'Deployment.apps': deploymentRules,
  'HorizontalPodAutoscaler.autoscaling': horizontalPodAutoscalerRules,
  'Job.batch': jobRules,
  'Node.': nodeRules,
  'Pod.': podRules,
  'PodDisruptionBudget.policy': podDisruptionBudgetRules,
  'ReplicaSet.apps': replicaSetRules,
  'StatefulSet.apps': statefulSetRules,
};
