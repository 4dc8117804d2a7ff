import { resolveSchema, type Schema, schemaFor } from '@bowline/kubernetes/schemas';
import type { StructuralSchema } from '@bowline/machinery/schema';
import type { ApiResource } from '../../registry/api-resource.ts';

const known = new WeakMap<ApiResource, StructuralSchema>();

/** variableTypeOf returns the type of a variable whose values are objects of a resource, in all known detail. */
export function variableTypeOf(resource: ApiResource): StructuralSchema | undefined {
  const before = known.get(resource);
  if (before) return before;
  const type = resource.schema ? structural(resource.schema, []) : customType(resource.structuralSchema);
  if (type) known.set(resource, type);
  return type;
}

/** The definition of a custom resource describes no metadata; that of all kinds is the same. */
function customType(schema: StructuralSchema | undefined): StructuralSchema | undefined {
  const namespace = schemaFor('v1', 'Namespace');
  const metadata = namespace?.properties?.metadata;
  if (!schema || !metadata) return undefined;
  const text = { type: 'string' } as const;
  const properties = { ...schema.properties, apiVersion: text, kind: text, metadata: structural(metadata, []) };
  return { ...schema, properties, 'x-kubernetes-embedded-resource': true };
}

/** structural converts the schema of a built-in kind. What a definition contains of itself has no type. */
function structural(schema: Schema, inside: readonly string[]): StructuralSchema {
  const { ref } = schema;
  if (ref !== undefined && inside.includes(ref)) return ANY;
  const { type, format, properties, items, additionalProperties, intOrString } = resolveSchema(schema);
  const within = ref === undefined ? inside : [...inside, ref];
  if (intOrString || format === 'quantity' || type === undefined) return ANY;
  return {
    type,
    format,
    properties: properties && mapValues(properties, (each) => structural(each, within)),
    items: items && structural(items, within),
    additionalProperties: additionalProperties && structural(additionalProperties, within),
    'x-kubernetes-embedded-resource': properties?.metadata !== undefined && properties.apiVersion !== undefined,
  };
}

/** The type of values that are checked only when they are evaluated. */
const ANY: StructuralSchema = { 'x-kubernetes-int-or-string': true };

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
