/**
 * Schema is the compact form of a built-in kind's OpenAPI schema: everything needed to merge, apply and validate,
 * without descriptions. An absent field means that nothing is specified.
 */
export interface Schema {
  /** Absent if the value has no single type: see `ref`, `intOrString`, `preserveUnknown` and the format `quantity`. */
  readonly type?: 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';
  /**
   * `<module>.<definition>`, for instance `core-v1.PodSpec`; `resolveSchema` follows it. It always refers to an object.
   */
  readonly ref?: string;
  /** The format `quantity` is a string or a number (`100m`, `2`); times are `date-time`, base64 is `byte`. */
  readonly format?: 'byte' | 'date-time' | 'double' | 'int32' | 'int64' | 'quantity';
  readonly properties?: { readonly [name: string]: Schema };
  /** The names of the required properties. */
  readonly required?: readonly string[];
  /** The schema of every element of an array. */
  readonly items?: Schema;
  /** The schema of every value of a map with arbitrary keys. */
  readonly additionalProperties?: Schema;
  readonly enum?: readonly string[];
  /**
   * The scalar used for an absent property, for instance a list key (`protocol` of a port is `TCP`). The server
   * publishes it for few of the values that it really fills in, and for many zero values. Empty objects are left out.
   */
  readonly default?: boolean | number | string;
  /** How server-side apply identifies elements when it merges lists. Absent means atomic. */
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

/** SchemaDocument holds the content of one generated module. */
export interface SchemaDocument {
  /** The definitions that are kinds: they have apiVersion and kind. */
  readonly kinds: readonly string[];
  readonly definitions: { readonly [name: string]: Schema };
}
