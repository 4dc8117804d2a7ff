import { quoteText } from '../json/go-text.ts';
import { isObject, type JsonObject, setMember } from '../json/json.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';

/** PruneOptions describes the value. */
export interface PruneOptions {
  /**
   * Whether the value is a whole object, whose apiVersion, kind and metadata are not described by the schema. Defaults
   * to false.
   */
  readonly isResource?: boolean | undefined;
}

type Context = { readonly onUnknown?: (path: string) => void };

/**
 * prune returns a value without the fields that its schema does not describe. Parts that lose nothing are shared with
 * the value.
 */
export function prune(value: unknown, schema: StructuralSchema, options: PruneOptions = {}): unknown {
  return pruneValue(value, resourceSchema(schema, options), '', {});
}

/** unknownFields returns the paths of the fields that `prune` would drop, sorted: `spec.x`, `spec.list[0].y`. */
export function unknownFields(value: unknown, schema: StructuralSchema, options: PruneOptions = {}): string[] {
  const paths: string[] = [];
  pruneValue(value, resourceSchema(schema, options), '', { onUnknown: (path) => paths.push(path) });
  return paths.sort();
}

/**
 * describeUnknownFields returns the API server's messages for unknown fields: in warnings, or after `strict decoding
 * error: `.
 */
export function describeUnknownFields(paths: readonly string[]): string[] {
  return paths.map((path) => `unknown field ${quoteText(path)}`);
}

function resourceSchema(schema: StructuralSchema, options: PruneOptions): StructuralSchema {
  return options.isResource === true ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema;
}

const RESOURCE_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

const METADATA_FIELDS = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]);

function pruneValue(value: unknown, schema: StructuralSchema | undefined, path: string, context: Context): unknown {
  if (Array.isArray(value)) return pruneList(value, schema, path, context);
  return isObject(value) ? pruneObject(value, schema, path, context) : value;
}

function pruneList(
  items: readonly unknown[],
  schema: StructuralSchema | undefined,
  path: string,
  context: Context,
): unknown {
  const keepsAll = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  // A list that is preserved without a schema is kept unchanged.
  if (keepsAll && schema.items === undefined) return items;
  const pruned = items.map((item, index) => pruneValue(item, schema?.items, `${path}[${index}]`, context));
  return pruned.some((item, index) => item !== items[index]) ? pruned : items;
}

function pruneObject(
  object: JsonObject,
  schema: StructuralSchema | undefined,
  path: string,
  context: Context,
): unknown {
  const keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  const additional = schema === undefined ? undefined : additionalSchema(schema);
  const kept: { [key: string]: unknown } = {};
  let isSame = true;
  for (const [key, value] of Object.entries(object)) {
    const at = path === '' ? key : `${path}.${key}`;
    const own = ownSchema(schema?.properties, key);
    let next = value;
    if (schema?.['x-kubernetes-embedded-resource'] === true && RESOURCE_FIELDS.has(key))
      next = key === 'metadata' ? pruneMetadata(value, at, context) : value;
    else if (own !== undefined) next = pruneValue(value, own, at, context);
    else if (schema?.additionalProperties === true) next = pruneValue(value, undefined, at, context);
    else if (additional !== undefined) next = pruneValue(value, additional, at, context);
    else if (!keepsUnknown) {
      isSame = false;
      if (path !== '' || !RESOURCE_FIELDS.has(key)) context.onUnknown?.(at);
      continue;
    }
    if (next !== value) isSame = false;
    setMember(kept, key, next);
  }
  return isSame ? object : kept;
}

/** Metadata has the same fields in every object, regardless of the schema, and none of them is nullable. */
function pruneMetadata(metadata: unknown, path: string, context: Context): unknown {
  if (metadata === null) return {};
  if (!isObject(metadata)) return metadata;
  const unknown = Object.keys(metadata).filter((key) => !METADATA_FIELDS.has(key));
  if (unknown.length === 0 && Object.values(metadata).every((value) => value !== null)) return metadata;
  for (const key of unknown) context.onUnknown?.(`${path}.${key}`);
  return Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => METADATA_FIELDS.has(key) && value !== null),
  );
}
