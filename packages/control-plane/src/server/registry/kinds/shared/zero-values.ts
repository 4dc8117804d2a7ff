/** dropFalse clears fields that are false: the API server omits false where it is the default. */
export function dropFalse<Name extends string>(
  object: { [key in Name]?: boolean | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === false) object[name] = undefined;
}

/** dropEmpty clears empty strings, which the API server does not distinguish from absent ones. */
export function dropEmpty<Name extends string>(
  object: { [key in Name]?: string | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === '') object[name] = undefined;
}

/** dropZero clears zeros that have the same meaning as an absent value. */
export function dropZero<Name extends string>(
  object: { [key in Name]?: number | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === 0) object[name] = undefined;
}
