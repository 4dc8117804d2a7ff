/**
 * PartialObject is the type of an object that is not validated yet: every field may be missing, even if the type requires it,
 * and every field may be set.
 */
export type PartialObject<T> = T extends readonly (infer Item)[]
  ? PartialObject<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]?: PartialObject<T[Name]> | undefined }
    : T extends string
      ? string
      : T;

/** partOf returns a part of an object, and sets it to an empty object if it is missing. */
export function partOf<T extends object, Name extends keyof T>(object: T, name: Name): NonNullable<T[Name]> {
  // All parts of a partial object may be empty.
  const part = object[name] ?? ({} as NonNullable<T[Name]>);
  object[name] = part;
  return part;
}
