import { type KubernetesObject, keyOf, keyString } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import type { Claimant } from './claim.ts';
import { controllerOf } from './pod-state.ts';

/** claimIndex indexes an object under its controller, or under the orphans of its namespace if it has none. */
export function claimIndex(object: KubernetesObject): readonly string[] {
  return [controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace)];
}

/** orphansOf returns the index value of the objects of a namespace that have no controller. */
export function orphansOf(namespace: string | undefined): string {
  return `orphans of ${namespace ?? ''}`;
}

/**
 * claimantsOf returns the keys of the workloads of a kind that an object concerns: its controller, or those that would
 * adopt it.
 */
export function claimantsOf<O extends KubernetesObject>(
  object: KubernetesObject,
  kind: string,
  others: () => readonly O[],
  selectorOf: (workload: O) => Claimant<O>['selector'],
): readonly string[] {
  const { namespace, labels } = object.metadata ?? {};
  const controller = controllerOf(object);
  if (controller) return controller.kind === kind ? [keyString({ namespace, name: controller.name })] : [];
  return others()
    .filter((workload) => {
      const selector = selectorOf(workload);
      return selector !== undefined && labelSelector(selector).matches(labels);
    })
    .map((workload) => keyString(keyOf(workload)));
}
