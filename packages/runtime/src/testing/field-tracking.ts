import { apiVersionOf, type KubernetesObject, type Resource } from '@bowline/kubernetes';
import {
  ANY_SHAPE,
  appliedSet,
  builtInShape,
  compareFields,
  customShape,
  type FieldManager,
  type FieldShape,
  type FieldsV1,
  fieldManagers,
  isEmptySet,
  type JsonObject,
  mergeFields,
  NO_FIELDS,
  pruneFields,
  subtractFields,
  uniteFields,
} from '@bowline/machinery';
import { isCustomResource } from '../resource/custom-resource.ts';

/** Writer identifies who writes an object, and how. */
export type Writer = Pick<FieldManager, 'manager' | 'operation' | 'subresource'>;

/** shapeOf returns what is known about a kind's objects. */
export function shapeOf(resource: Resource): FieldShape {
  if (isCustomResource(resource)) return customShape(resource.schema);
  return builtInShape(apiVersionOf(resource), resource.kind) ?? ANY_SHAPE;
}

/**
 * applied merges what a manager applies into an object: fields that it applied before and omits now are removed, unless
 * others own them.
 */
export function applied(
  live: KubernetesObject & JsonObject,
  body: JsonObject,
  resource: Resource,
  by: Writer,
): JsonObject {
  const shape = shapeOf(resource);
  const managers = fieldManagers(live);
  const fields = subtractFields(appliedSet(body, shape), UNOWNED);
  const others = managers.filter((each) => !isSame(each, by)).map((each) => each.fields);
  const owned = [fields, ...others].reduce((all, each) => uniteFields(all, each), NO_FIELDS);
  const last = managers.find((each) => isSame(each, by))?.fields ?? NO_FIELDS;
  return pruneFields(mergeFields(live, body, shape), last, owned, shape);
}

/**
 * managedFieldsOf returns the field owners after a write: its writer owns what it wrote, and others no longer do. Times
 * are omitted: nothing in the runtime reads them.
 */
export function managedFieldsOf(
  before: KubernetesObject,
  after: KubernetesObject,
  resource: Resource,
  by: Writer,
  body: JsonObject | undefined,
): NonNullable<KubernetesObject['metadata']>['managedFields'] {
  const shape = shapeOf(resource);
  const change = compareFields(before as JsonObject, after as JsonObject, shape);
  const written = subtractFields(change.written, UNOWNED);
  const managers = fieldManagers(before);
  const own = managers.find((each) => isSame(each, by))?.fields ?? NO_FIELDS;
  const fields =
    by.operation === 'Apply' && body
      ? subtractFields(appliedSet(body, shape), UNOWNED)
      : subtractFields(uniteFields(own, written), change.removed);
  const others = managers
    .filter((each) => !isSame(each, by))
    .map((each) => ({ ...each, fields: subtractFields(subtractFields(each.fields, written), change.removed) }));
  const apiVersion = apiVersionOf(resource);
  return [...others, { ...by, apiVersion, fields }].filter((each) => !isEmptySet(each.fields)).map(entryOf);
}

function isSame(one: Writer, other: Writer): boolean {
  return one.manager === other.manager && one.operation === other.operation && one.subresource === other.subresource;
}

function entryOf({ manager, operation, apiVersion, subresource, fields }: FieldManager) {
  const entry = { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: fields };
  return subresource === '' ? entry : { ...entry, subresource };
}

const SERVER_METADATA = [
  'creationTimestamp',
  'generation',
  'managedFields',
  'name',
  'namespace',
  'resourceVersion',
  'uid',
];

/** The API server's own fields have no owner. */
const UNOWNED: FieldsV1 = {
  'f:apiVersion': NO_FIELDS,
  'f:kind': NO_FIELDS,
  'f:metadata': Object.fromEntries(
    ['.', ...SERVER_METADATA.map((name) => `f:${name}`)].map((name) => [name, NO_FIELDS]),
  ),
};
