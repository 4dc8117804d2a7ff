/** dropFalse removes switches that are off: the API server does not write those that are off when nobody says anything. */
export function dropFalse<Name extends string>(
  object: { [key in Name]?: boolean | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === false) object[name] = undefined;
}

/** dropEmpty removes texts without a character, which the API server does not tell from absent ones. */
export function dropEmpty<Name extends string>(
  object: { [key in Name]?: string | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === '') object[name] = undefined;
}

/** dropZero removes numbers that mean as much when they are absent. */
export function dropZero<Name extends string>(
  object: { [key in Name]?: number | undefined },
  ...names: readonly Name[]
): void {
  for (const name of names) if (object[name] === 0) object[name] = undefined;
}
