import {
  appliedSet,
  compareFields,
  excludeFields,
  type FieldShape,
  type FieldsV1,
  intersectFields,
  isEmptySet,
  isSameJson,
  type JsonObject,
  mergeFields,
  NO_FIELDS,
  pruneFields,
  subtractFields,
  uniteFields,
} from '@bowline/machinery';
import { identityOf, type Manager, type Managers, removeFields } from './managers.ts';

/** Application is an object that a manager applies to a live object. */
export interface Application {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly shape: FieldShape;
  /** The managers of the live object; not modified. */
  readonly managers: Managers;
  /** The applying manager; it need not own anything yet. */
  readonly writer: Omit<Manager, 'fields'>;
  /** Fields that this application cannot own. */
  readonly reset: FieldsV1;
}

/** Conflict holds the fields that a manager owns and an application would change. */
export interface Conflict {
  readonly owner: Manager;
  readonly fields: FieldsV1;
}

/** Outcome is the result of an application. */
export interface Outcome {
  readonly merged: JsonObject;
  /** Whether the merged object differs from the live one. */
  readonly isChanged: boolean;
  readonly managers: Managers;
  /**
   * In the order of messages. `managers` already excludes these fields from their owners: without force, the whole
   * outcome must be discarded.
   */
  readonly conflicts: readonly Conflict[];
}

/**
 * applyFields merges the applied object into the live one: fields that the writer applied before and omits now are
 * removed unless others own them, and others lose the ownership of fields that change. Equal values are shared.
 */
export function applyFields({ live, applied, shape, managers, writer, reset }: Application): Outcome {
  const identity = identityOf(writer);
  const last = excludeFields(managers.get(identity)?.fields ?? NO_FIELDS, reset);
  const fields = excludeFields(appliedSet(applied, shape), reset);
  const owners: Managers = new Map(managers);
  owners.set(identity, { ...writer, fields });
  let owned = NO_FIELDS;
  for (const each of owners.values()) owned = uniteFields(owned, each.fields);
  const merged = pruneFields(mergeFields(live, applied, shape), last, owned, shape);
  const change = compareFields(live, merged, shape);
  const written = excludeFields(change.written, reset);
  const removed = excludeFields(change.removed, reset);
  const conflicts: Conflict[] = [];
  removeFields(owners, (owner, each) => {
    if (each === identity) return subtractFields(owner.fields, UNOWNED);
    const taken = intersectFields(owner.fields, written);
    if (!isEmptySet(taken)) conflicts.push({ owner, fields: taken });
    return subtractFields(subtractFields(owner.fields, written), removed);
  });
  conflicts.sort((a, b) => (identityOf(a.owner) < identityOf(b.owner) ? -1 : 1));
  return { merged, isChanged: !isSameJson(live, merged), managers: owners, conflicts };
}

/** Fields that the server itself sets have no owner. */
const UNOWNED: FieldsV1 = {
  'f:apiVersion': NO_FIELDS,
  'f:kind': NO_FIELDS,
  'f:metadata': {
    '.': NO_FIELDS,
    'f:creationTimestamp': NO_FIELDS,
    'f:generation': NO_FIELDS,
    'f:managedFields': NO_FIELDS,
    'f:name': NO_FIELDS,
    'f:namespace': NO_FIELDS,
    'f:resourceVersion': NO_FIELDS,
    'f:selfLink': NO_FIELDS,
    'f:uid': NO_FIELDS,
  },
};
