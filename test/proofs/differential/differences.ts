/** Difference is one position at which two responses differ. */
export interface Difference {
  /** Such as `body.metadata.labels.a`. Named elements of lists are identified by name. */
  readonly path: string;
  readonly real: unknown;
  readonly ours: unknown;
}

/** differences compares two values; a value that only one side has is reported once, at its topmost path. */
export function differences(real: unknown, ours: unknown, path = ''): Difference[] {
  if (Object.is(real, ours)) return [];
  if (!isComposite(real) || !isComposite(ours) || Array.isArray(real) !== Array.isArray(ours))
    return [{ path, real, ours }];
  const [theirs, mine] = [membersOf(real), membersOf(ours)];
  const names = new Set([...theirs.keys(), ...mine.keys()]);
  const found = [...names].flatMap((name) =>
    differences(theirs.get(name), mine.get(name), path === '' ? name : `${path}.${name}`),
  );
  // The same elements in another order.
  if (found.length === 0 && Array.isArray(real) && [...theirs.keys()].join() !== [...mine.keys()].join())
    return [{ path: `${path}.order`, real: [...theirs.keys()], ours: [...mine.keys()] }];
  return found;
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function membersOf(value: object): Map<string, unknown> {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const list = value as readonly unknown[];
  const named = list.map((each, index) => [nameOf(each) ?? String(index), each] as const);
  return new Set(named.map(([name]) => name)).size === list.length
    ? new Map(named)
    : new Map(list.map((each, index) => [String(index), each]));
}

function nameOf(element: unknown): string | undefined {
  if (!isComposite(element)) return undefined;
  const { name, groupVersion, resource, version, metadata, manager, operation, subresource } = element as Record<
    string,
    unknown
  >;
  if (typeof manager === 'string') return [manager, operation, subresource].join('/');
  const found =
    name ?? groupVersion ?? resource ?? version ?? subresource ?? (metadata as { name?: unknown } | undefined)?.name;
  return typeof found === 'string' ? found : undefined;
}
