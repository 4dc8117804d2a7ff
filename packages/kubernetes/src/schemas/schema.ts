/**
 * Schema is the compact form of a built-in kind's OpenAPI schema: everything that merging, applying and validating need,
 * and no prose. A field that is absent says nothing.
 */
export interface Schema {
  /** Absent where the value has no single type: see `ref`, `intOrString`, `preserveUnknown` and the format `quantity`. */
  readonly type?: 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';
  /** `<module>.<definition>`, for instance `core-v1.PodSpec`; `resolveSchema` follows it. Always leads to an object. */
  readonly ref?: string;
  /** `quantity` is a string or a number (`100m`, `2`); times are `date-time`, base64 is `byte`. */
  readonly format?: 'byte' | 'date-time' | 'double' | 'int32' | 'int64' | 'quantity';
  readonly properties?: { readonly [name: string]: Schema };
  /** Names of the properties that must be there. */
  readonly required?: readonly string[];
  /** Every element of an array. */
  readonly items?: Schema;
  /** Every value of a map with free keys. */
  readonly additionalProperties?: Schema;
  readonly enum?: readonly string[];
  /**
   * A scalar that stands for an absent property, for instance a list key (`protocol` of a port is `TCP`). The server says
   * it for few of the values that it really fills in, and for many zero values; empty objects are left out.
   */
  readonly default?: boolean | number | string;
  /** How elements are told apart when lists are merged by server-side apply. Absent means atomic. */
  readonly listType?: 'atomic' | 'map' | 'set';
  /** The properties that identify an element of a list of type `map`. */
  readonly listMapKeys?: readonly string[];
  /** Whether server-side apply owns a map or object as a whole. Absent means granular. */
  readonly mapType?: 'atomic' | 'granular';
  /** The property that identifies an element for a strategic merge patch. */
  readonly patchMergeKey?: string;
  /** How a strategic merge patch treats the field. Absent means replace for lists and merge for objects. */
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[];
  /** The value is an integer or a string (a port, a percentage). */
  readonly intOrString?: true;
  /** The value is any JSON and nothing in it may be dropped. */
  readonly preserveUnknown?: true;
}

/** SchemaDocument is what one generated module holds. */
export interface SchemaDocument {
  /** The definitions that are kinds: they carry apiVersion and kind. */
  readonly kinds: readonly string[];
  readonly definitions: { readonly [name: string]: Schema };
}
