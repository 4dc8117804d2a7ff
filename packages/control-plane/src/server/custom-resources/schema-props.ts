import type { JSONSchemaProps } from '@bowline/kubernetes';

/** SchemaProps is a schema as somebody wrote it into a definition: perhaps none that can be used. */
export type SchemaProps = JSONSchemaProps;

/** Level is one schema in another, and where it stands. */
export interface Level {
  readonly schema: SchemaProps;
  readonly path: string;
  /** What the level is about: fields and values of maps, or items of lists. */
  readonly kind: 'field' | 'item';
  /** The name of the field; undefined for others. */
  readonly name?: string | undefined;
}

/** below are the schemas of what a value holds, in the order of their names. */
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

/** Branch is a schema that restricts the same value as the one that holds it. */
export interface Branch {
  readonly schema: SchemaProps;
  readonly path: string;
  readonly of: 'allOf' | 'anyOf' | 'oneOf' | 'not';
  readonly index: number;
}

/** branchesOf are the branches of a schema: what it holds in allOf, anyOf, oneOf and not. */
export function branchesOf(schema: SchemaProps, path: string): Branch[] {
  const branches = (['allOf', 'oneOf', 'anyOf'] as const).flatMap((of) =>
    (schema[of] ?? []).map((each, index): Branch => ({ schema: each, path: `${path}.${of}[${index}]`, of, index })),
  );
  if (schema.not) branches.push({ schema: schema.not, path: `${path}.not`, of: 'not', index: 0 });
  return branches;
}

/** asSchema is what stands where a schema may stand, if it is one: what is below `items` is not checked when it is read. */
export function asSchema(value: unknown): SchemaProps | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** sortedEntries are members in the order of their names: the same problems are always told in the same order. */
export function sortedEntries<T>(members: { readonly [name: string]: T } | undefined): [string, T][] {
  return Object.entries(members ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
