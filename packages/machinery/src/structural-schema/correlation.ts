import { isObject, isSameJson, member } from '../json/json.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from './structural-schema.ts';

/**
 * Correlation pairs a value with the one that it replaces, along the fields, map keys and list-map items of a schema. A
 * value without a pair counts as changed.
 */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: StructuralSchema;
  #unchanged: boolean | undefined;
  #children: Map<string | number, Correlation | undefined> | undefined;
  #oldItems: Map<string, unknown> | undefined;

  constructor(value: unknown, old: unknown, schema: StructuralSchema) {
    this.value = value;
    this.old = old;
    this.schema = schema;
  }

  /**
   * key returns the pair for a field or map key, or undefined if one side lacks it or the schema does not describe it.
   */
  key(name: string): Correlation | undefined {
    return this.#child(name, () => {
      if (!isObject(this.value) || !isObject(this.old)) return undefined;
      const value = member(this.value, name);
      const old = member(this.old, name);
      const schema = ownSchema(this.schema.properties, name) ?? additionalSchema(this.schema);
      if (value === undefined || old === undefined || schema === undefined) return undefined;
      return new Correlation(value, old, schema);
    });
  }

  /** index returns the pair for an item of a list. Only the items of a list-map can be paired. */
  index(position: number): Correlation | undefined {
    return this.#child(position, () => {
      if (!Array.isArray(this.value) || !Array.isArray(this.old)) return undefined;
      const item: unknown = this.value[position];
      const schema = this.schema.items;
      const keys = listMapKeys(this.schema);
      if (schema === undefined || keys === undefined) return undefined;
      this.#oldItems ??= itemsByKey(this.old, keys);
      const key = itemKey(item, keys);
      const old = key === undefined ? undefined : this.#oldItems.get(key);
      return old === undefined ? undefined : new Correlation(item, old, schema);
    });
  }

  /** isUnchanged reports whether both values are the same; the order of list-map items does not matter. */
  get isUnchanged(): boolean {
    this.#unchanged ??= this.#compare();
    return this.#unchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (listMapKeys(this.schema) === undefined) return isSameJson(value, old);
      return value.every((_, position) => this.index(position)?.isUnchanged === true);
    }
    if (isObject(value) && isObject(old)) {
      const keys = Object.keys(value);
      return keys.length === Object.keys(old).length && keys.every((key) => this.key(key)?.isUnchanged === true);
    }
    return isSameJson(value, old);
  }

  #child(name: string | number, make: () => Correlation | undefined): Correlation | undefined {
    this.#children ??= new Map();
    if (!this.#children.has(name)) this.#children.set(name, make());
    return this.#children.get(name);
  }
}

/** listMapKeys returns the keys of a list-map, or undefined for any other list. */
export function listMapKeys(schema: StructuralSchema): readonly string[] | undefined {
  return schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
}

/** itemKey returns the key of an item of a list-map, or undefined if a key field is missing or not a scalar. */
export function itemKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const values = keys.map((key) => member(item, key));
  const isKeyed = values.every((value) => ['string', 'number', 'boolean'].includes(typeof value));
  return isKeyed ? JSON.stringify(values) : undefined;
}

/** itemsByKey returns the items of a list-map by their key. If several have the same key, it returns the first. */
export function itemsByKey(items: readonly unknown[], keys: readonly string[]): Map<string, unknown> {
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = itemKey(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}
