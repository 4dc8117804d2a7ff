import { fieldAccess } from '../../cel/field-names.ts';
import type { Read, ReadShape, Shape, Typed, Written, WrittenShape } from './infer.ts';
import { Schema } from './schema.ts';

/** ObjectSchema is an object with known fields. What else somebody writes into it is dropped by the API server. */
export class ObjectSchema<S extends Shape> extends Schema<ReadShape<S>, WrittenShape<S>> {
  /** preserveUnknown keeps fields that the schema does not know, unchecked. */
  preserveUnknown(): this {
    return this.with({ 'x-kubernetes-preserve-unknown-fields': true });
  }

  /** structType says how server-side apply owns the object: field by field (`granular`, as without) or whole (`atomic`). */
  structType(type: 'atomic' | 'granular'): this {
    return this.with({ 'x-kubernetes-map-type': type });
  }

  /** minProperties is the least number of fields that are present. */
  minProperties(fields: number): this {
    return this.with({ minProperties: fields });
  }

  /** maxProperties is the greatest number of fields that are present. */
  maxProperties(fields: number): this {
    return this.with({ maxProperties: fields });
  }

  /** exactlyOneOf demands that one of these fields is present and no other of them. */
  exactlyOneOf(...fields: readonly (keyof S & string)[]): this {
    return this.#countOf(fields, '== 1', `exactly one of ${listed(fields)} must be set`);
  }

  /** atMostOneOf demands that no two of these fields are present. */
  atMostOneOf(...fields: readonly (keyof S & string)[]): this {
    return this.#countOf(fields, '<= 1', `at most one of ${listed(fields)} may be set`);
  }

  /** atLeastOneOf demands that one or more of these fields are present. */
  atLeastOneOf(...fields: readonly (keyof S & string)[]): this {
    const rule = fields.map((field) => `has(${fieldAccess('self', field)})`).join(' || ');
    return this.rule(rule, { message: `at least one of ${listed(fields)} must be set` });
  }

  #countOf(fields: readonly string[], comparison: string, message: string): this {
    const present = fields.map((field) => `has(${fieldAccess('self', field)})`).join(', ');
    return this.rule(`[${present}].filter(present, present).size() ${comparison}`, { message });
  }
}

function listed(fields: readonly string[]): string {
  return fields.length < 2 ? fields.join('') : `${fields.slice(0, -1).join(', ')} and ${fields.at(-1)}`;
}

/** MapSchema is an object with keys that users choose and values of one schema. */
export class MapSchema<V extends Typed> extends Schema<
  { readonly [key: string]: Read<V> },
  { readonly [key: string]: Written<V> }
> {
  /** mapType says how server-side apply owns the map: key by key (`granular`, as without) or whole (`atomic`). */
  mapType(type: 'atomic' | 'granular'): this {
    return this.with({ 'x-kubernetes-map-type': type });
  }

  /** minProperties is the least number of keys. */
  minProperties(keys: number): this {
    return this.with({ minProperties: keys });
  }

  /** maxProperties is the greatest number of keys. Rules on unbounded maps may be too expensive for the API server. */
  maxProperties(keys: number): this {
    return this.with({ maxProperties: keys });
  }
}

/** ArraySchema is a list of values of one schema. */
export class ArraySchema<I extends Typed> extends Schema<readonly Read<I>[], readonly Written<I>[]> {
  /** minItems is the least number of items. */
  minItems(items: number): this {
    return this.with({ minItems: items });
  }

  /** maxItems is the greatest number of items. Rules on unbounded lists may be too expensive for the API server. */
  maxItems(items: number): this {
    return this.with({ maxItems: items });
  }

  /**
   * listType says how server-side apply owns the list: whole (`atomic`, as without) or item by item (`set`), where every
   * item may be there only once and is a scalar or atomic.
   */
  listType(type: 'atomic' | 'set'): this {
    return this.with({ 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': undefined });
  }

  /** listMapBy makes the list a map: these fields of an item identify it. They must be required or have a default. */
  listMapBy(...keys: readonly string[]): this {
    return this.with({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': Object.freeze([...keys]) });
  }
}

/** UnknownSchema is any JSON value, or any object; nothing about it is checked. The type is the author's promise. */
export class UnknownSchema<T = unknown> extends Schema<T> {}

/** EmbeddedResource is a whole Kubernetes object inside another. */
export interface EmbeddedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly [field: string]: unknown } | undefined;
  readonly [field: string]: unknown;
}

/** EmbeddedSchema is a whole Kubernetes object: apiVersion, kind and metadata are checked, the rest is kept as it is. */
export class EmbeddedSchema extends Schema<EmbeddedResource> {}
