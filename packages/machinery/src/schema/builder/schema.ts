import {
  canonicalSchema,
  type NestedValidation,
  type StructuralSchema,
  type ValidationRule,
} from '../../structural-schema/structural-schema.ts';
import { admitSchema } from '../admit-schema.ts';
import type { DefaultedField, NullableField, OptionalField, Typed, Written } from './infer.ts';

/** RuleOptions say what a validation rule tells its users; see `ValidationRule`. */
export type RuleOptions = Omit<ValidationRule, 'rule'>;

/** SchemaConstructor is how every kind of schema is made from its JSON form. */
type SchemaConstructor<S> = new (json: StructuralSchema, isOptional?: boolean) => S;

/**
 * Schema is a structural schema with the static types of its values. It is a value: every method returns a new one, and
 * what the API server would refuse is refused at once. `JSON.stringify` gives what stands in a CustomResourceDefinition.
 *
 * A class although it has no lifecycle, because its methods differ by kind and have to keep the kind they are called on.
 */
export class Schema<R = unknown, W = R> implements Typed {
  declare readonly '~read': R;
  declare readonly '~written': W;
  /** The schema as it stands in a CustomResourceDefinition: frozen, keys in a fixed order. */
  readonly json: StructuralSchema;
  /** Whether an object's field of this schema may be absent. One with a default may be absent too. */
  readonly isOptional: boolean;

  constructor(json: StructuralSchema, isOptional = false) {
    this.json = admitSchema(canonicalSchema(json));
    this.isOptional = isOptional;
  }

  /** toJSON is what `JSON.stringify` writes. */
  toJSON(): StructuralSchema {
    return this.json;
  }

  /** optional lets the field be absent. Fields are required otherwise. */
  optional(): this & OptionalField {
    return rebuilt(this, this.json, true) as this & OptionalField;
  }

  /** default is the value of an absent field; the API server fills it in. It has to be a valid value itself. */
  default(value: Written<this>): this & DefaultedField {
    return this.with({ default: deepFreeze(value) }) as this & DefaultedField;
  }

  /** nullable lets the value be null. Without, a null is taken for an absent field. */
  nullable(): this & NullableField {
    return this.with({ nullable: true }) as this & NullableField;
  }

  /** describe explains the field to its users: `kubectl explain` and the reference page show it. */
  describe(text: string): this {
    return this.with({ description: text });
  }

  /** deprecated adds to the description that the field should no longer be used and what to use instead. */
  deprecated(text: string): this {
    const before = this.json.description === undefined ? '' : `${this.json.description}\n\n`;
    return this.with({ description: `${before}Deprecated: ${text}` });
  }

  /** title is a short name of the field for user interfaces. */
  title(text: string): this {
    return this.with({ title: text });
  }

  /** example is a value that shows how the field is used. It has to be valid. */
  example(value: Written<this>): this {
    return this.with({ example: deepFreeze(value) });
  }

  /** externalDocs points to more about the field. */
  externalDocs(url: string, description?: string): this {
    return this.with({ externalDocs: Object.freeze(description === undefined ? { url } : { url, description }) });
  }

  /**
   * rule adds a CEL expression that must be true of the value (`self`) and, if it names `oldSelf`, of the change to it. It
   * is compiled and type-checked at once.
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

  /** immutable refuses updates that change the value. Adding and removing an optional field stays possible. */
  immutable(message = 'field is immutable'): this {
    return this.rule('self == oldSelf', { message });
  }

  /** allOf demands that the value also fulfils every one of these. */
  allOf(...branches: readonly NestedValidation[]): this {
    return this.with({ allOf: deepFreeze([...(this.json.allOf ?? []), ...branches]) });
  }

  /** anyOf demands that the value also fulfils at least one of these. Rules with a message explain themselves better. */
  anyOf(...branches: readonly NestedValidation[]): this {
    return this.with({ anyOf: deepFreeze([...(this.json.anyOf ?? []), ...branches]) });
  }

  /** oneOf demands that the value also fulfils exactly one of these. Rules with a message explain themselves better. */
  oneOf(...branches: readonly NestedValidation[]): this {
    return this.with({ oneOf: deepFreeze([...(this.json.oneOf ?? []), ...branches]) });
  }

  /** not demands that the value does not fulfil this. */
  not(branch: NestedValidation): this {
    return this.with({ not: deepFreeze(branch) });
  }

  /** with is the same schema with some of its JSON members replaced. */
  protected with(change: Partial<StructuralSchema>): this {
    return rebuilt(this, { ...this.json, ...change }, this.isOptional);
  }
}

function rebuilt<S extends Schema>(schema: S, json: StructuralSchema, isOptional: boolean): S {
  // Every kind keeps this constructor: its name says what it is, its JSON holds everything else.
  return new (schema.constructor as SchemaConstructor<S>)(json, isOptional);
}

/**
 * deepFreeze is a frozen copy of a JSON value. A schema is used long after it was built; what it was built from may change
 * meanwhile.
 */
function deepFreeze<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(deepFreeze)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    // Defined, not assigned: `__proto__` is a key like any other in JSON.
    Object.defineProperty(copy, key, { value: deepFreeze(item), enumerable: true });
  }
  return Object.freeze(copy) as T;
}
