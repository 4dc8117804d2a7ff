/** parseIndexes parses the indexes in a Job's status: `0,3-5`. */
export function parseIndexes(text: string | undefined): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** formatIndexes formats indexes as in a Job's status: neighbours become a range. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const parts: string[] = [];
  let first: number | undefined;
  let last: number | undefined;
  const end = (): void => {
    if (first === undefined || last === undefined) return;
    if (last === first) parts.push(`${first}`);
    else parts.push(last === first + 1 ? `${first},${last}` : `${first}-${last}`);
  };
  for (const index of [...indexes].toSorted((a, b) => a - b)) {
    if (last !== undefined && index === last + 1) {
      last = index;
      continue;
    }
    end();
    first = index;
    last = index;
  }
  end();
  return parts.join(',');
}
