import type { KubernetesObject } from '@bowline/kubernetes';
import { type FieldsV1, hasField, parseFieldsV1 } from './fields-v1.ts';

/** FieldManager is a manager of an object's fields, with the operation that it used. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The API version in which the set of fields is written. */
  readonly apiVersion: string;
  readonly fields: FieldsV1;
}

/** fieldManagers returns the managers of an object. Entries that cannot be read are left out. */
export function fieldManagers(object: KubernetesObject): readonly FieldManager[] {
  return (object.metadata?.managedFields ?? []).flatMap((entry) => {
    const { manager = '', operation, subresource = '', apiVersion = '', fieldsType } = entry;
    const fields = fieldsType === 'FieldsV1' ? parseFieldsV1(entry.fieldsV1) : undefined;
    if (fields === undefined || (operation !== 'Apply' && operation !== 'Update')) return [];
    return [{ manager, operation, subresource, apiVersion, fields }];
  });
}

/**
 * appliedFields returns the set of fields that a manager applied to an object in this version; undefined if it has not
 * applied any.
 */
export function appliedFields(
  object: KubernetesObject,
  manager: string,
  apiVersion: string,
  subresource = '',
): FieldsV1 | undefined {
  for (const entry of object.metadata?.managedFields ?? []) {
    if (entry.operation !== 'Apply' || entry.manager !== manager || (entry.subresource ?? '') !== subresource) continue;
    if (entry.apiVersion === apiVersion && entry.fieldsType === 'FieldsV1') return parseFieldsV1(entry.fieldsV1);
  }
  return undefined;
}

/**
 * managersOf returns the names of the managers of a field of an object, or of anything in it. A value that an admission
 * webhook filled in has no manager.
 *
 * @example
 * managersOf(server, ['spec', 'trustDomain']).filter((manager) => !manager.startsWith('bowline-'));
 */
export function managersOf(object: KubernetesObject, path: readonly string[]): readonly string[] {
  const names = fieldManagers(object).filter(({ fields }) => hasField(fields, path));
  return [...new Set(names.map(({ manager }) => manager))];
}
