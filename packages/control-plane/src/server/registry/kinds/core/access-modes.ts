const SHORT: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** ACCESS_MODES are the ways in which a volume can be mounted, in the order in which the API server lists them. */
export const ACCESS_MODES: readonly string[] = Object.keys(SHORT).sort();

/** accessModesText is how kubectl writes the ways in which a volume can be mounted. */
export function accessModesText(modes: readonly (string | undefined)[] | undefined): string {
  return Object.keys(SHORT)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => SHORT[mode])
    .join(',');
}
