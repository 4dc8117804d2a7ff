import { ConfigMap, type KubernetesObject, type Resource, Secret } from '@bowline/kubernetes';
import { type FieldsV1, fieldManagers } from '@bowline/machinery';
import type { ExactMap } from './exact-paths.ts';

/**
 * Creating an object plainly costs the API server about a fifth less than applying it (decision record 012). But then our
 * fields stand in managedFields as updated, not as applied: a later apply owns them a second time and does not take away what
 * it leaves out. So it is done for the kinds of which there are many in one reconcile, and which consist of maps of strings:
 * of those the members that we wrote and no longer want are told from managedFields and taken away one by one.
 */
const PLAIN_KINDS: ReadonlySet<string> = new Set([ConfigMap.id, Secret.id]);

const MAPS = [['metadata', 'labels'], ['metadata', 'annotations'], ['data'], ['binaryData']] as const;

/** isPlainKind says whether objects of a kind may have been created plainly. */
export function isPlainKind(resource: Resource): boolean {
  return PLAIN_KINDS.has(resource.id);
}

/**
 * canCreatePlainly says whether creating an object makes us the owner of exactly the fields that applying it would, so that
 * nothing differs afterwards: it has no lists, the server drops nothing (an empty map) and fills in nothing (a type).
 */
export function canCreatePlainly(resource: Resource, desired: KubernetesObject): boolean {
  if (!isPlainKind(resource)) return false;
  const { apiVersion: _, kind: __, metadata = {}, ...content } = desired;
  const { name: ___, namespace: ____, ...described } = metadata;
  const fields = [...Object.values(described), ...Object.values(content)].filter((value) => value !== undefined);
  if (fields.some((value) => Array.isArray(value) || isEmptyMap(value))) return false;
  return resource.id !== Secret.id || Boolean((desired as Secret).type);
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => each === undefined);
}

/** plainFields is the set of fields that a manager owns because it created or updated an object, not by applying. */
export function plainFields(object: KubernetesObject, manager: string, apiVersion: string): FieldsV1 | undefined {
  return fieldManagers(object).find(
    (each) =>
      each.manager === manager &&
      each.operation === 'Update' &&
      each.subresource === '' &&
      each.apiVersion === apiVersion,
  )?.fields;
}

/** mapsWithin are the maps of which the members in a set have to go when they are no longer wanted. */
export function mapsWithin(fields: FieldsV1): readonly ExactMap[] {
  return MAPS.map((path) => ({ path, within: fields }));
}
