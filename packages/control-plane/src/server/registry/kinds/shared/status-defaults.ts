/** statusDefaults writes times that nobody knows as null: the API server's types of conditions have them always. */
export function statusDefaults(conditions: readonly object[] | undefined, ...times: readonly string[]): void {
  for (const condition of (conditions ?? []) as Record<string, unknown>[]) {
    for (const name of times) condition[name] ??= null;
  }
}

/** zeroes fills in counts that a status always has. */
export function zeroes<Name extends string>(
  status: { [key in Name]?: number | undefined } | undefined,
  ...names: readonly Name[]
): void {
  if (status) for (const name of names) status[name] ??= 0;
}
