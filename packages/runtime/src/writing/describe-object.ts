import { type KubernetesObject, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { MANAGED_BY } from '../identity/operator-identity.ts';

/** describeKey names an object in a message: `ConfigMap default/a`. */
export function describeKey(resource: Pick<Resource, 'kind'>, key: ObjectKey): string {
  return `${resource.kind} ${keyString(key)}`;
}

/**
 * describeHolder describes who an object seems to belong to: its controller, the tool that manages it, or its field
 * managers.
 */
export function describeHolder(object: KubernetesObject): string {
  const { ownerReferences = [], labels = {}, managedFields = [] } = object.metadata ?? {};
  const controller = ownerReferences.find((reference) => reference.controller) ?? ownerReferences[0];
  if (controller) return `owned by ${controller.kind} ${controller.name}`;
  const label = labels[MANAGED_BY];
  if (label) return `labelled as managed by ${label}`;
  const managers = [...new Set(managedFields.map(({ manager }) => manager).filter((name) => name !== undefined))];
  if (managers.length > 0) return `written by ${managers.slice(0, 3).join(', ')}`;
  return 'of unknown origin';
}
