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

/** partOf is a part of an object; where there is none an empty one is put there. */
export function partOf<T extends object, Name extends keyof T>(object: T, name: Name): NonNullable<T[Name]> {
  // All parts of a loose object may be empty.
  const part = object[name] ?? ({} as NonNullable<T[Name]>);
  object[name] = part;
  return part;
}
