import { Schema } from './schema.ts';

/** StringSchema is text. */
export class StringSchema<T extends string = string> extends Schema<T> {
  /** minLength is the least number of characters. */
  minLength(characters: number): this {
    return this.with({ minLength: characters });
  }

  /** maxLength is the greatest number of characters. Rules on unbounded text may be too expensive for the API server. */
  maxLength(characters: number): this {
    return this.with({ maxLength: characters });
  }

  /**
   * pattern is an RE2 expression that must match somewhere in the text: write `^…$` for the whole of it. Look-around and
   * back-references do not exist in RE2.
   */
  pattern(pattern: string): this {
    return this.with({ pattern });
  }

  /**
   * format is one of those that the API server checks: `date-time`, `duration`, `ipv4`, `ipv6`, `cidr`, `uri`, `email`,
   * `hostname`, `uuid`, `byte`, `date`, `mac`, … Formats that it does not know are refused, because it would ignore them.
   * `k8s-short-name` and `k8s-long-name` are checked since 1.34 only; `dnsLabel` and `dnsSubdomain` work everywhere.
   */
  format(format: string): this {
    return this.with({ format });
  }
}

/** NumberSchema is a number, with or without a fraction. */
export class NumberSchema extends Schema<number> {
  /** min is the least value. */
  min(value: number): this {
    return this.with({ minimum: value, exclusiveMinimum: undefined });
  }

  /** max is the greatest value. */
  max(value: number): this {
    return this.with({ maximum: value, exclusiveMaximum: undefined });
  }

  /** exclusiveMin is a bound that the value must exceed. */
  exclusiveMin(value: number): this {
    return this.with({ minimum: value, exclusiveMinimum: true });
  }

  /** exclusiveMax is a bound that the value must stay below. */
  exclusiveMax(value: number): this {
    return this.with({ maximum: value, exclusiveMaximum: true });
  }

  /** multipleOf demands a multiple of this positive number. */
  multipleOf(factor: number): this {
    return this.with({ multipleOf: factor });
  }
}

/** BooleanSchema is true or false. */
export class BooleanSchema extends Schema<boolean> {}

/** EnumSchema is one of a few values. */
export class EnumSchema<T extends string | number> extends Schema<T> {}

/** IntOrStringSchema is a whole number or text: ports, percentages, quantities. */
export class IntOrStringSchema extends Schema<number | string> {
  /** pattern is an RE2 expression for the text; numbers are not held against it. */
  pattern(pattern: string): this {
    return this.with({ pattern });
  }

  /** min is the least value of a number. */
  min(value: number): this {
    return this.with({ minimum: value });
  }

  /** max is the greatest value of a number. */
  max(value: number): this {
    return this.with({ maximum: value });
  }

  /** maxLength is the greatest number of characters of a text. */
  maxLength(characters: number): this {
    return this.with({ maxLength: characters });
  }
}

/** DurationSchema is a length of time as Go writes it: `1h30m`, `250ms`, `0`. */
export class DurationSchema extends Schema<string> {
  /** min is the shortest allowed duration. */
  min(duration: string): this {
    return this.rule(`self >= duration('${duration}')`, { message: `must be at least ${duration}` });
  }

  /** max is the longest allowed duration. */
  max(duration: string): this {
    return this.rule(`self <= duration('${duration}')`, { message: `must be at most ${duration}` });
  }
}
