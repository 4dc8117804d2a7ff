import type { CustomResourceDefinition, JSONSchemaProps } from '@bowline/kubernetes/apiextensions-v1';

/**
 * lostFields returns the paths of the fields that a stored definition has and a new one lacks: the API server would
 * drop their values from every object that is written under the new one. Versions that the new one lacks are ignored
 * here.
 */
export function lostFields(stored: CustomResourceDefinition, next: CustomResourceDefinition): readonly string[] {
  const lost = stored.spec.versions.flatMap(({ name, schema }) => {
    const replacement = next.spec.versions.find((version) => version.name === name);
    return replacement ? lostFieldsIn(schema?.openAPIV3Schema, replacement.schema?.openAPIV3Schema, '') : [];
  });
  return [...new Set(lost)].sort();
}

/** Fields that the API server adds to every object. */
const COMMON_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function lostFieldsIn(stored: JSONSchemaProps | undefined, next: JSONSchemaProps | undefined, path: string): string[] {
  if (!stored || keepsUnknown(next)) return [];
  if (!next || keepsUnknown(stored)) return [`${path}*`];
  const lost: string[] = [];
  for (const [name, schema] of Object.entries(stored.properties ?? {})) {
    if (path === '' && COMMON_FIELDS.has(name)) continue;
    const kept = next.properties?.[name] ?? valuesOf(next);
    lost.push(...(kept ? lostFieldsIn(schema, kept, `${path}${name}.`) : [`${path}${name}`]));
  }
  const values = valuesOf(stored);
  if (values) lost.push(...lostFieldsIn(values, valuesOf(next), `${path}*.`));
  const items = itemsOf(stored);
  if (items) lost.push(...lostFieldsIn(items, itemsOf(next), `${path}*.`));
  return lost;
}

function keepsUnknown(schema: JSONSchemaProps | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true;
}

function valuesOf({ additionalProperties }: JSONSchemaProps): JSONSchemaProps | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function itemsOf({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  // A CustomResourceDefinition has one schema for all items; the type also allows lists.
  return items && 'length' in items ? items[0] : items;
}
