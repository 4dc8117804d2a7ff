/** SchemaType is the type of a value in a structural schema. There is no type for null: use `nullable`. */
export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/** RuleReason is the reason in the API error when a validation rule fails. */
export type RuleReason = 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';

/** ValidationRule is one entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  /** The CEL expression that must be true; `self` is the value, `oldSelf` the value before an update. */
  readonly rule: string;
  /** The error message. Defaults to the rule itself. */
  readonly message?: string | undefined;
  /** A CEL expression that returns the message. It takes precedence over `message` unless it fails. */
  readonly messageExpression?: string | undefined;
  /** Defaults to FieldValueInvalid. */
  readonly reason?: RuleReason | undefined;
  /** The field in the error, relative to the field with the rule: `.spec.size`, `['a b']`. */
  readonly fieldPath?: string | undefined;
  /** Makes `oldSelf` optional, so that the rule also runs if there is no old value. */
  readonly optionalOldSelf?: boolean | undefined;
}

/**
 * ValueValidation holds the constraints on a value besides its type, also inside `allOf`, `anyOf`, `oneOf` and `not`.
 */
export interface ValueValidation {
  readonly format?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly allOf?: readonly NestedValidation[] | undefined;
  readonly anyOf?: readonly NestedValidation[] | undefined;
  readonly oneOf?: readonly NestedValidation[] | undefined;
  readonly not?: NestedValidation | undefined;
}

/**
 * NestedValidation is a branch of `allOf`, `anyOf`, `oneOf` or `not`: it restricts values but does not describe them.
 */
export interface NestedValidation extends ValueValidation {
  /** Allowed only inside the `anyOf` of an int-or-string. */
  readonly type?: SchemaType | undefined;
  readonly properties?: Readonly<Record<string, NestedValidation>> | undefined;
  readonly items?: NestedValidation | undefined;
}

/**
 * StructuralSchema is the schema of a custom resource or a part of it, as in a CustomResourceDefinition
 * (`openAPIV3Schema`). Compiled forms are cached per object, so do not change a schema that has been used.
 */
export interface StructuralSchema extends ValueValidation {
  readonly type?: SchemaType | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly externalDocs?: { readonly url: string; readonly description?: string | undefined } | undefined;
  readonly example?: unknown;
  readonly nullable?: boolean | undefined;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, StructuralSchema>> | undefined;
  readonly additionalProperties?: StructuralSchema | boolean | undefined;
  readonly items?: StructuralSchema | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map' | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular' | undefined;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[] | undefined;
}

// CRDs are read from top to bottom: first the description, then the constraints, then the content.
const KEY_ORDER = [
  'title',
  'description',
  'externalDocs',
  'example',
  'type',
  'format',
  'nullable',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const satisfies readonly (keyof StructuralSchema)[];

/**
 * canonicalSchema returns a frozen copy of one level of a schema, with its keys in a fixed order and without undefined
 * members.
 */
export function canonicalSchema(schema: StructuralSchema): StructuralSchema {
  const ordered: Record<string, unknown> = {};
  for (const key of KEY_ORDER) if (schema[key] !== undefined) ordered[key] = schema[key];
  return Object.freeze(ordered);
}

/** ownSchema returns a schema's own member for a name from user input; `constructor` is a field name like any other. */
export function ownSchema<S>(schemas: Readonly<Record<string, S>> | undefined, name: string): S | undefined {
  return schemas !== undefined && Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

/** additionalSchema returns the schema of a map's values, or undefined if there is none. */
export function additionalSchema(schema: StructuralSchema): StructuralSchema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}
