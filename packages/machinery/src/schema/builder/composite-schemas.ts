import { fieldAccess } from '../../cel/field-names.ts';
import type { Read, ReadShape, Shape, Typed, Written, WrittenShape } from './infer.ts';
import { Schema } from './schema.ts';

/** ObjectSchema is an object with known fields. The API server drops all other fields. */
export class ObjectSchema<S extends Shape> extends Schema<ReadShape<S>, WrittenShape<S>> {
  /** preserveUnknown keeps the fields that the schema does not describe, unchecked. */
  preserveUnknown(): this {
    return this.with({ 'x-kubernetes-preserve-unknown-fields': true });
  }

  /**
   * structType sets how server-side apply owns the object: by field (`granular`, the default) or as a whole (`atomic`).
   */
  structType(type: 'atomic' | 'granular'): this {
    return this.with({ 'x-kubernetes-map-type': type });
  }

  /** minProperties sets the minimum number of fields that are present. */
  minProperties(fields: number): this {
    return this.with({ minProperties: fields });
  }

  /** maxProperties sets the maximum number of fields that are present. */
  maxProperties(fields: number): this {
    return this.with({ maxProperties: fields });
  }

  /** exactlyOneOf requires that exactly one of these fields is present. */
  exactlyOneOf(...fields: readonly (keyof S & string)[]): this {
    return this.#countOf(fields, '== 1', `exactly one of ${listed(fields)} must be set`);
  }

  /** atMostOneOf requires that no two of these fields are present. */
  atMostOneOf(...fields: readonly (keyof S & string)[]): this {
    return this.#countOf(fields, '<= 1', `at most one of ${listed(fields)} may be set`);
  }

  /** atLeastOneOf requires that one or more of these fields are present. */
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

/** MapSchema is an object with arbitrary keys and values of one schema. */
export class MapSchema<V extends Typed> extends Schema<
  { readonly [key: string]: Read<V> },
  { readonly [key: string]: Written<V> }
> {
  /** mapType sets how server-side apply owns the map: by key (`granular`, the default) or as a whole (`atomic`). */
  mapType(type: 'atomic' | 'granular'): this {
    return this.with({ 'x-kubernetes-map-type': type });
  }

  /** minProperties sets the minimum number of keys. */
  minProperties(keys: number): this {
    return this.with({ minProperties: keys });
  }

  /** maxProperties sets the maximum number of keys. Rules on unbounded maps may be too expensive for the API server. */
  maxProperties(keys: number): this {
    return this.with({ maxProperties: keys });
  }
}

/** ArraySchema is a list of values of one schema. */
export class ArraySchema<I extends Typed> extends Schema<readonly Read<I>[], readonly Written<I>[]> {
  /** minItems sets the minimum number of items. */
  minItems(items: number): this {
    return this.with({ minItems: items });
  }

  /** maxItems sets the maximum number of items. Rules on unbounded lists may be too expensive for the API server. */
  maxItems(items: number): this {
    return this.with({ maxItems: items });
  }

  /**
   * listType sets how server-side apply owns the list: as a whole (`atomic`, the default) or by item (`set`). The items
   * of a set must be unique, and each must be a scalar or atomic.
   */
  listType(type: 'atomic' | 'set'): this {
    return this.with({ 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': undefined });
  }

  /**
   * listMapBy makes the list a map whose items are identified by these fields. They must be required or have a default.
   */
  listMapBy(...keys: readonly string[]): this {
    return this.with({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': Object.freeze([...keys]) });
  }
}

/** UnknownSchema is any JSON value, or any object; it is not checked. The author is responsible for the type. */
export class UnknownSchema<T = unknown> extends Schema<T> {}

/** EmbeddedResource is a whole Kubernetes object inside another. */
export interface EmbeddedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly [field: string]: unknown } | undefined;
  readonly [field: string]: unknown;
}

/**
 * EmbeddedSchema is a whole Kubernetes object: apiVersion, kind and metadata are checked, the rest is kept unchanged.
 */
export class EmbeddedSchema extends Schema<EmbeddedResource> {}
