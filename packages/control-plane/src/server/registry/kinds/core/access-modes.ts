const SHORT: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** ACCESS_MODES lists the access modes of volumes, in the order in which the API server lists them. */
export const ACCESS_MODES: readonly string[] = Object.keys(SHORT).sort();

/** accessModesText formats access modes as kubectl does. */
export function accessModesText(modes: readonly (string | undefined)[] | undefined): string {
  return Object.keys(SHORT)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => SHORT[mode])
    .join(',');
}
