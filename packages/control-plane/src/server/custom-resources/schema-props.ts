import type { JSONSchemaProps } from '@bowline/kubernetes';

/** SchemaProps is a schema as written in a definition: it may be invalid. */
export type SchemaProps = JSONSchemaProps;

/** Level is a schema nested in another one, with its path. */
export interface Level {
  readonly schema: SchemaProps;
  readonly path: string;
  /** What the level describes: fields and values of maps, or items of lists. */
  readonly kind: 'field' | 'item';
  /** The name of the field; undefined for other levels. */
  readonly name?: string | undefined;
}

/** below returns the nested schemas of a value's fields and items, sorted by name. */
export function below(schema: SchemaProps, path: string): Level[] {
  const levels: Level[] = [];
  for (const [name, each] of sortedEntries(schema.properties))
    levels.push({ schema: each, path: `${path}.properties[${name}]`, kind: 'field', name });
  const additional = asSchema(schema.additionalProperties);
  if (additional) levels.push({ schema: additional, path: `${path}.additionalProperties`, kind: 'field' });
  const items = asSchema(schema.items);
  if (items) levels.push({ schema: items, path: `${path}.items`, kind: 'item' });
  return levels;
}

/** Branch is a schema that restricts the same value as the schema that contains it. */
export interface Branch {
  readonly schema: SchemaProps;
  readonly path: string;
  readonly of: 'allOf' | 'anyOf' | 'oneOf' | 'not';
  readonly index: number;
}

/** branchesOf returns the branches of a schema: the contents of allOf, anyOf, oneOf and not. */
export function branchesOf(schema: SchemaProps, path: string): Branch[] {
  const branches = (['allOf', 'oneOf', 'anyOf'] as const).flatMap((of) =>
    (schema[of] ?? []).map((each, index): Branch => ({ schema: each, path: `${path}.${of}[${index}]`, of, index })),
  );
  if (schema.not) branches.push({ schema: schema.not, path: `${path}.not`, of: 'not', index: 0 });
  return branches;
}

/** asSchema returns a value if it is a schema: what is below `items` is not checked during decoding. */
export function asSchema(value: unknown): SchemaProps | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** sortedEntries returns members sorted by name: the same problems are always reported in the same order. */
export function sortedEntries<T>(members: { readonly [name: string]: T } | undefined): [string, T][] {
  return Object.entries(members ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
