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
import { identityOf, type Manager, type Managers, takeFields } from './managers.ts';

/** Application is an object that somebody applies to another. */
export interface Application {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly shape: FieldShape;
  /** Of the live object; not changed. */
  readonly managers: Managers;
  /** Who applies; it need not own anything yet. */
  readonly writer: Omit<Manager, 'fields'>;
  /** What nobody can own by this. */
  readonly reset: FieldsV1;
}

/** Conflict is what a manager owns and an application would change. */
export interface Conflict {
  readonly owner: Manager;
  readonly fields: FieldsV1;
}

/** Outcome is what would become of an application. */
export interface Outcome {
  readonly merged: JsonObject;
  /** Whether the merged object differs from the live one. */
  readonly isChanged: boolean;
  readonly managers: Managers;
  /** In the order of messages. They were taken from their owners: without force, nothing of the outcome counts. */
  readonly conflicts: readonly Conflict[];
}

/**
 * applyFields merges what somebody wants into what is there: what they wanted before and leave out now goes unless others own
 * it, and what others own is theirs no longer where it changes. Equal values are shared.
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
  takeFields(owners, (owner, each) => {
    if (each === identity) return subtractFields(owner.fields, UNOWNED);
    const taken = intersectFields(owner.fields, written);
    if (!isEmptySet(taken)) conflicts.push({ owner, fields: taken });
    return subtractFields(subtractFields(owner.fields, written), removed);
  });
  conflicts.sort((a, b) => (identityOf(a.owner) < identityOf(b.owner) ? -1 : 1));
  return { merged, isChanged: !isSameJson(live, merged), managers: owners, conflicts };
}

/** What the server decides itself has no owner. */
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
