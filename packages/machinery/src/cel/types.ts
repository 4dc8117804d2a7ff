/** SimpleKind is a CEL type without parameters. Kubernetes adds the types from `quantity` on. */
export type SimpleKind =
  | 'bool'
  | 'int'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'dyn'
  | 'quantity'
  | 'ip'
  | 'cidr'
  | 'url'
  | 'format'
  | 'authorizer'
  | 'pathCheck'
  | 'groupCheck'
  | 'resourceCheck'
  | 'decision';

/** ObjectType is an object with known fields; two object types are the same only if they have the same schema. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  /** By the escaped names that expressions use. */
  readonly fields: ReadonlyMap<string, CelType>;
}

/** CelType is the static type of an expression. */
export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'optional'; readonly value: CelType }
  | ObjectType
  /** A placeholder in a function's signature. */
  | { readonly kind: 'parameter'; readonly name: string }
  /** Nothing is known yet, as for the items of `[]`. It matches every type. */
  | { readonly kind: 'free' };

const SIMPLE = new Map<string, CelType>(
  (
    [
      'bool',
      'int',
      'double',
      'string',
      'bytes',
      'null',
      'timestamp',
      'duration',
      'type',
      'dyn',
      'quantity',
      'ip',
      'cidr',
      'url',
      'format',
      'authorizer',
      'pathCheck',
      'groupCheck',
      'resourceCheck',
      'decision',
    ] as const
  ).map((kind) => [kind, Object.freeze({ kind })]),
);

/** simple returns a type without parameters. */
export function simple(kind: SimpleKind): CelType {
  return SIMPLE.get(kind) ?? { kind };
}

/** BOOL is the type of true and false. */
export const BOOL = simple('bool');
/** INT is the type of 64-bit integers. */
export const INT = simple('int');
/** DOUBLE is the type of floating point numbers. */
export const DOUBLE = simple('double');
/** STRING is the type of text. */
export const STRING = simple('string');
/** BYTES is the type of binary data. */
export const BYTES = simple('bytes');
/** NULL is the type of null. */
export const NULL = simple('null');
/** DYN is the type of values whose type is known only at run time. */
export const DYN = simple('dyn');
/** TYPE is the type of types as values. */
export const TYPE = simple('type');
/** FREE is the type that matches every type: nothing is known yet. */
export const FREE: CelType = Object.freeze({ kind: 'free' });

/** listOf returns the type of a list. */
export function listOf(element: CelType): CelType {
  return { kind: 'list', element };
}

/** mapOf returns the type of a map. */
export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value };
}

/** optionalOf returns the type of an optional value. */
export function optionalOf(value: CelType): CelType {
  return { kind: 'optional', value };
}

/** formatType formats a type as error messages show it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional_type(${formatType(type.value)})`;
    case 'object':
      return type.name;
    case 'parameter':
      return type.name;
    case 'free':
      return 'dyn';
    default:
      return type.kind;
  }
}

/** parseType parses a type in a function's signature: `list<A>`, `map<string, dyn>`, `optional<int>`. */
export function parseType(text: string): CelType {
  const composite = /^(list|map|optional)<(.+)>$/.exec(text.trim());
  if (composite === null) return SIMPLE.get(text.trim()) ?? { kind: 'parameter', name: text.trim() };
  const [, kind, inside = ''] = composite;
  if (kind === 'list') return listOf(parseType(inside));
  if (kind === 'optional') return optionalOf(parseType(inside));
  const comma = inside.indexOf(',');
  return mapOf(parseType(inside.slice(0, comma)), parseType(inside.slice(comma + 1)));
}

/** Bindings maps the type parameters of a signature to their types in one call. */
export type Bindings = Map<string, CelType>;

const NULLABLE = new Set([
  'object',
  'timestamp',
  'duration',
  'null',
  'optional',
  'quantity',
  'ip',
  'cidr',
  'url',
  'format',
  'authorizer',
  'pathCheck',
  'groupCheck',
  'resourceCheck',
  'decision',
]);

/** fits reports whether a value of type `given` can be used where `wanted` is required. It binds type parameters. */
export function fits(wanted: CelType, given: CelType, bindings: Bindings): boolean {
  if (wanted.kind === 'parameter') {
    const bound = bindings.get(wanted.name);
    if (bound === undefined) {
      bindings.set(wanted.name, given);
      return true;
    }
    if (isUnknown(bound) && !isUnknown(given)) {
      bindings.set(wanted.name, given);
      return true;
    }
    const joined = fits(bound, given, bindings);
    if (joined) bindings.set(wanted.name, moreSpecific(bound, given));
    return joined;
  }
  if (isUnknown(wanted) || isUnknown(given)) return true;
  if (wanted.kind === 'null') return NULLABLE.has(given.kind);
  if (given.kind === 'null') return NULLABLE.has(wanted.kind);
  if (wanted.kind === 'list') return given.kind === 'list' && fits(wanted.element, given.element, bindings);
  if (wanted.kind === 'optional') return given.kind === 'optional' && fits(wanted.value, given.value, bindings);
  if (wanted.kind === 'map')
    return given.kind === 'map' && fits(wanted.key, given.key, bindings) && fits(wanted.value, given.value, bindings);
  if (wanted.kind === 'object') return given === wanted;
  return wanted.kind === given.kind;
}

/** isUnknown reports whether a type is checked only at run time. */
export function isUnknown(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'free';
}

/** moreSpecific returns the more specific of two types that match each other. */
export function moreSpecific(a: CelType, b: CelType): CelType {
  if (a.kind === 'free') return b;
  if (b.kind === 'free' || a.kind === 'dyn') return a;
  if (b.kind === 'dyn') return b;
  if (a.kind === 'null') return b;
  if (a.kind === 'list' && b.kind === 'list') return listOf(moreSpecific(a.element, b.element));
  if (a.kind === 'optional' && b.kind === 'optional') return optionalOf(moreSpecific(a.value, b.value));
  if (a.kind === 'map' && b.kind === 'map') return mapOf(moreSpecific(a.key, b.key), moreSpecific(a.value, b.value));
  return a;
}

/** substitute replaces the type parameters in a type. An unbound parameter becomes free. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? FREE;
    case 'list':
      return listOf(substitute(type.element, bindings));
    case 'optional':
      return optionalOf(substitute(type.value, bindings));
    case 'map':
      return mapOf(substitute(type.key, bindings), substitute(type.value, bindings));
    default:
      return type;
  }
}
