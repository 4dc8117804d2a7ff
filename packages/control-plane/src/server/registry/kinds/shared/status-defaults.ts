/** statusDefaults sets missing times to null: the API server's condition types always have them. */
export function statusDefaults(conditions: readonly object[] | undefined, ...times: readonly string[]): void {
  for (const condition of (conditions ?? []) as Record<string, unknown>[]) {
    for (const name of times) condition[name] ??= null;
  }
}

/** zeroes sets missing counts that a status always has to zero. */
export function zeroes<Name extends string>(
  status: { [key in Name]?: number | undefined } | undefined,
  ...names: readonly Name[]
): void {
  if (status) for (const name of names) status[name] ??= 0;
}
