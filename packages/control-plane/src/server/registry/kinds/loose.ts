/**
 * Loose is a kind's type as it is before it was judged: anything may be missing, whatever the type requires, and everything
 * may be filled in.
 */
export type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]?: Loose<T[Name]> | undefined }
    : T extends string
      ? string
      : T;
