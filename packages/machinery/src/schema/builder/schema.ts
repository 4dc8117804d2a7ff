import {
  canonicalSchema,
  type NestedValidation,
  type StructuralSchema,
  type ValidationRule,
} from '../../structural-schema/structural-schema.ts';
import { admitSchema } from '../admit-schema.ts';
import type { DefaultedField, NullableField, OptionalField, Typed, Written } from './infer.ts';

/** RuleOptions configures the message and reason of a validation rule; see `ValidationRule`. */
export type RuleOptions = Omit<ValidationRule, 'rule'>;

/** SchemaConstructor creates a schema of any kind from its JSON form. */
type SchemaConstructor<S> = new (json: StructuralSchema, isOptional?: boolean) => S;

/**
 * Schema is a structural schema with the static types of its values. It is immutable: every method returns a new
 * schema, and throws at once if the API server would reject the result. `JSON.stringify` returns its form in a
 * CustomResourceDefinition.
 *
 * It is a class although it has no lifecycle, because its methods differ by kind and must return the kind that they are
 * called on.
 */
export class Schema<R = unknown, W = R> implements Typed {
  declare readonly '~read': R;
  declare readonly '~written': W;
  /** The schema as in a CustomResourceDefinition: frozen, with keys in a fixed order. */
  readonly json: StructuralSchema;
  /** Whether a field with this schema may be absent. A field with a default may be absent too. */
  readonly isOptional: boolean;

  constructor(json: StructuralSchema, isOptional = false) {
    this.json = admitSchema(canonicalSchema(json));
    this.isOptional = isOptional;
  }

  /** toJSON returns the value that `JSON.stringify` writes. */
  toJSON(): StructuralSchema {
    return this.json;
  }

  /** optional allows the field to be absent. Fields are required by default. */
  optional(): this & OptionalField {
    return rebuilt(this, this.json, true) as this & OptionalField;
  }

  /** default sets the value of an absent field; the API server fills it in. The value must be valid. */
  default(value: Written<this>): this & DefaultedField {
    return this.with({ default: deepFreeze(value) }) as this & DefaultedField;
  }

  /** nullable allows null. Otherwise null counts as an absent field. */
  nullable(): this & NullableField {
    return this.with({ nullable: true }) as this & NullableField;
  }

  /** describe sets the description of the field, which `kubectl explain` and the reference page show. */
  describe(text: string): this {
    return this.with({ description: text });
  }

  /** deprecated adds a deprecation note to the description, with what to use instead. */
  deprecated(text: string): this {
    const before = this.json.description === undefined ? '' : `${this.json.description}\n\n`;
    return this.with({ description: `${before}Deprecated: ${text}` });
  }

  /** title sets a short name of the field for user interfaces. */
  title(text: string): this {
    return this.with({ title: text });
  }

  /** example sets a value that shows how the field is used. The value must be valid. */
  example(value: Written<this>): this {
    return this.with({ example: deepFreeze(value) });
  }

  /** externalDocs sets a link to further documentation of the field. */
  externalDocs(url: string, description?: string): this {
    return this.with({ externalDocs: Object.freeze(description === undefined ? { url } : { url, description }) });
  }

  /**
   * rule adds a CEL expression that must be true for the value (`self`) and, if it uses `oldSelf`, for the change of
   * the value. It is compiled and type-checked at once.
   *
   * @example
   * s.object({ min: s.integer(), max: s.integer() }).rule('self.min <= self.max', { message: 'min must not exceed max' });
   */
  rule(expression: string, options: RuleOptions = {}): this {
    const rule: Record<string, unknown> = { rule: expression };
    for (const [name, value] of Object.entries(options)) if (value !== undefined) rule[name] = value;
    const rules = this.json['x-kubernetes-validations'] ?? [];
    return this.with({
      'x-kubernetes-validations': Object.freeze([...rules, Object.freeze(rule) as unknown as ValidationRule]),
    });
  }

  /** immutable rejects updates that change the value. An optional field can still be added and removed. */
  immutable(message = 'field is immutable'): this {
    return this.rule('self == oldSelf', { message });
  }

  /** allOf requires that the value also matches all of these. */
  allOf(...branches: readonly NestedValidation[]): this {
    return this.with({ allOf: deepFreeze([...(this.json.allOf ?? []), ...branches]) });
  }

  /** anyOf requires that the value also matches at least one of these. Rules with a message produce clearer errors. */
  anyOf(...branches: readonly NestedValidation[]): this {
    return this.with({ anyOf: deepFreeze([...(this.json.anyOf ?? []), ...branches]) });
  }

  /** oneOf requires that the value also matches exactly one of these. Rules with a message produce clearer errors. */
  oneOf(...branches: readonly NestedValidation[]): this {
    return this.with({ oneOf: deepFreeze([...(this.json.oneOf ?? []), ...branches]) });
  }

  /** not requires that the value does not match this. */
  not(branch: NestedValidation): this {
    return this.with({ not: deepFreeze(branch) });
  }

  /** with returns the same schema with some of its JSON members replaced. */
  protected with(change: Partial<StructuralSchema>): this {
    return rebuilt(this, { ...this.json, ...change }, this.isOptional);
  }
}

function rebuilt<S extends Schema>(schema: S, json: StructuralSchema, isOptional: boolean): S {
  // All subclasses keep this constructor: the class is the kind, and the JSON holds everything else.
  return new (schema.constructor as SchemaConstructor<S>)(json, isOptional);
}

/**
 * deepFreeze returns a frozen copy of a JSON value. A schema is used long after it was built, and the caller may change
 * the original value in the meantime.
 */
function deepFreeze<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(deepFreeze)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    // Defined, not assigned: `__proto__` is an ordinary key in JSON.
    Object.defineProperty(copy, key, { value: deepFreeze(item), enumerable: true });
  }
  return Object.freeze(copy) as T;
}
