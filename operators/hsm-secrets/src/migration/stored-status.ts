import type { KubernetesObject, ObjectMeta } from '@bowline/kubernetes';
import { isObject } from '@bowline/machinery';
import type { CustomResource } from '@bowline/runtime/resource';
import type { PlannedStep } from './step.ts';

type ManagedFields = NonNullable<ObjectMeta['managedFields']>;

const STATUS = 'f:status';

/**
 * hasStoredStatus reports whether an older operator wrote a status that is still stored. A definition without a status
 * hides it from readers until the object is written again, but the managed fields still name it.
 */
export function hasStoredStatus(object: KubernetesObject): boolean {
  return 'status' in object || (object.metadata?.managedFields ?? []).some(isOfStatus);
}

/** withoutStatus returns an object without its status. Written back, nothing of the status stays stored. */
export function withoutStatus<T extends KubernetesObject>(object: T): T {
  const { status: _, ...rest } = object as T & { readonly status?: unknown };
  const entries = (object.metadata?.managedFields ?? []).flatMap((entry) =>
    isOfStatus(entry) ? strip(entry) : [entry],
  );
  // The API server takes an empty list for an omitted one; one empty entry removes all.
  const managedFields: ManagedFields = entries.length > 0 ? entries : [{}];
  // Without the status it is an object of the same kind: the kind has none.
  return { ...rest, metadata: { ...object.metadata, managedFields } } as unknown as T;
}

/**
 * planStatus returns the step that drops a status in an older form. The manager keeps what it
 * does not own, and the API server refuses every status with an invalid part.
 */
export function planStatus(
  resource: Pick<CustomResource, 'validate'> & Extract<PlannedStep['change'], { type: 'drop-status' }>['resource'],
  object: KubernetesObject,
): readonly PlannedStep[] {
  if (!resource.validate(object).some(({ field }) => field.startsWith('status'))) return [];
  const { namespace, name } = object.metadata ?? {};
  return [
    {
      state: 'planned',
      object: `${resource.kind} ${namespace}/${name}`,
      action: 'drop the status of the older operator',
      change: { type: 'drop-status', resource, object },
    },
  ];
}

function isOfStatus({ fieldsV1 }: ManagedFields[number]): boolean {
  return isObject(fieldsV1) && STATUS in fieldsV1;
}

/** An older client may have written both with one request. */
function strip(entry: ManagedFields[number]): ManagedFields {
  const { [STATUS]: _, ...others } = entry.fieldsV1 as Readonly<Record<string, unknown>>;
  return Object.keys(others).length > 0 ? [{ ...entry, fieldsV1: others }] : [];
}
