import type { KubernetesObject } from '@bowline/kubernetes';
import { annotationsChanged, anyOf, changed, generationChanged } from '@bowline/runtime';
import { ANNOTATIONS, MANAGER, SINGLETON } from '../api/names.ts';
import { operandNamespace } from '../namespaces.ts';

/** configChanged passes events of the five objects that may change shared values. */
export const configChanged = anyOf(
  generationChanged,
  annotationsChanged(ANNOTATIONS.inherited, ANNOTATIONS.inheritIntoSpec, ANNOTATIONS.history),
  changed(
    (before: KubernetesObject, after) => before.metadata?.deletionTimestamp !== after.metadata?.deletionTimestamp,
  ),
);

/** ofSingletons are the options with which a controller watches the other ones of the five objects. */
export const ofSingletons = { when: configChanged, map: () => [{ name: SINGLETON }] } as const;

const labelSelector = `app.kubernetes.io/managed-by=${MANAGER}`;

/** inNamespace are the options of namespaced objects that an operand owns. */
export const inNamespace = { namespaces: [operandNamespace.name], labelSelector } as const;

/** inCluster are the options of cluster-scoped objects that an operand owns. */
export const inCluster = { labelSelector } as const;

/** ofWorkloads are the options of workloads, which have no owner. */
export const ofWorkloads = { ...inNamespace, map: () => [{ name: SINGLETON }] } as const;
