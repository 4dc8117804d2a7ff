import { Schema } from './schema.ts';

/** StringSchema is the schema of text. */
export class StringSchema<T extends string = string> extends Schema<T> {
  /** minLength sets the minimum number of characters. */
  minLength(characters: number): this {
    return this.with({ minLength: characters });
  }

  /**
   * maxLength sets the maximum number of characters. Rules on unbounded text may be too expensive for the API server.
   */
  maxLength(characters: number): this {
    return this.with({ maxLength: characters });
  }

  /**
   * pattern sets an RE2 expression that must match anywhere in the text: use `^…$` to match all of it. RE2 does not
   * support look-around and back-references.
   */
  pattern(pattern: string): this {
    return this.with({ pattern });
  }

  /**
   * format sets one of the formats that the API server checks: `date-time`, `duration`, `ipv4`, `ipv6`, `cidr`, `uri`,
   * `email`, `hostname`, `uuid`, `byte`, `date`, `mac`, … Unknown formats are rejected, because the API server would
   * ignore them. `k8s-short-name` and `k8s-long-name` are checked since 1.34 only; `dnsLabel` and `dnsSubdomain` work
   * everywhere.
   */
  format(format: string): this {
    return this.with({ format });
  }
}

/** NumberSchema is the schema of a number, with or without a fraction. */
export class NumberSchema extends Schema<number> {
  /** min sets the minimum value. */
  min(value: number): this {
    return this.with({ minimum: value, exclusiveMinimum: undefined });
  }

  /** max sets the maximum value. */
  max(value: number): this {
    return this.with({ maximum: value, exclusiveMaximum: undefined });
  }

  /** exclusiveMin sets a bound that the value must exceed. */
  exclusiveMin(value: number): this {
    return this.with({ minimum: value, exclusiveMinimum: true });
  }

  /** exclusiveMax sets a bound that the value must stay below. */
  exclusiveMax(value: number): this {
    return this.with({ maximum: value, exclusiveMaximum: true });
  }

  /** multipleOf requires a multiple of this positive number. */
  multipleOf(factor: number): this {
    return this.with({ multipleOf: factor });
  }
}

/** BooleanSchema is the schema of true or false. */
export class BooleanSchema extends Schema<boolean> {}

/** EnumSchema is the schema of one of several values. */
export class EnumSchema<T extends string | number> extends Schema<T> {}

/** IntOrStringSchema is the schema of a whole number or text: ports, percentages, quantities. */
export class IntOrStringSchema extends Schema<number | string> {
  /** pattern sets an RE2 expression for text; it does not apply to numbers. */
  pattern(pattern: string): this {
    return this.with({ pattern });
  }

  /** min sets the minimum value of a number. */
  min(value: number): this {
    return this.with({ minimum: value });
  }

  /** max sets the maximum value of a number. */
  max(value: number): this {
    return this.with({ maximum: value });
  }

  /** maxLength sets the maximum number of characters of a text. */
  maxLength(characters: number): this {
    return this.with({ maxLength: characters });
  }
}

/** DurationSchema is the schema of a duration in Go's format: `1h30m`, `250ms`, `0`. */
export class DurationSchema extends Schema<string> {
  /** min sets the shortest allowed duration. */
  min(duration: string): this {
    return this.rule(`self >= duration('${duration}')`, { message: `must be at least ${duration}` });
  }

  /** max sets the longest allowed duration. */
  max(duration: string): this {
    return this.rule(`self <= duration('${duration}')`, { message: `must be at most ${duration}` });
  }
}
