/** OptionalField marks a schema whose field may be absent. */
export interface OptionalField {
  readonly '~optional': true;
}

/** DefaultedField marks a schema whose field has a default: it may be absent when written and is present when read. */
export interface DefaultedField {
  readonly '~defaulted': true;
}

/** NullableField marks a schema that also accepts null. */
export interface NullableField {
  readonly '~nullable': true;
}

/** Typed carries the static types of a schema; the members exist for the compiler only. */
export interface Typed {
  readonly '~read': unknown;
  readonly '~written': unknown;
}

/**
 * Read is the type of a value as the API server returns it: defaults are filled in, and it is read-only.
 *
 * @example
 * const Spec = s.object({ size: s.integer().default(3), note: s.string().optional() });
 * type Spec = Read<typeof Spec>; // { readonly size: number; readonly note?: string | undefined }
 */
export type Read<S extends Typed> = S extends NullableField ? S['~read'] | null : S['~read'];

/** Written is the type of a value as a client writes it: fields with a default may be left out. */
export type Written<S extends Typed> = S extends NullableField ? S['~written'] | null : S['~written'];

/** Shape holds the fields of an object. */
export type Shape = Readonly<Record<string, Typed>>;

type Flat<T> = { readonly [K in keyof T]: T[K] };

type AbsentWhenRead<F> = F extends DefaultedField ? false : F extends OptionalField ? true : false;
type AbsentWhenWritten<F> = F extends DefaultedField ? true : F extends OptionalField ? true : false;

/** ReadShape is the type of an object as read. */
export type ReadShape<S extends Shape> = Flat<
  { [K in keyof S as AbsentWhenRead<S[K]> extends true ? never : K]: Read<S[K]> } & {
    [K in keyof S as AbsentWhenRead<S[K]> extends true ? K : never]?: Read<S[K]> | undefined;
  }
>;

/** WrittenShape is the type of an object as written. */
export type WrittenShape<S extends Shape> = Flat<
  { [K in keyof S as AbsentWhenWritten<S[K]> extends true ? never : K]: Written<S[K]> } & {
    [K in keyof S as AbsentWhenWritten<S[K]> extends true ? K : never]?: Written<S[K]> | undefined;
  }
>;
