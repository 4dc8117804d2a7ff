/** What a gateway looks at first: a resource exists once its resource.json does, and a project once its project.json does. */
const RESOURCE = 'resource.json';
const PROJECT = /^projects\/[^/]+\/project\.json$/;

/**
 * orderPlacements sorts files so that a gateway that sees a resource finds its other files: `resource.json` comes last in every
 * folder, and `project.json` last in every project.
 */
export function orderPlacements<T extends { readonly file: { readonly path: string } }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => compare(key(a.file.path, 1), key(b.file.path, 1)));
}

/** orderDeletions sorts files so that a gateway that still sees a resource finds its other files. */
export function orderDeletions<T extends { readonly path: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => compare(key(a.path, -1), key(b.path, -1)));
}

function key(path: string, direction: 1 | -1): readonly (string | number)[] {
  const project = /^projects\/[^/]+/.exec(path)?.[0] ?? '';
  const end = path.lastIndexOf('/');
  const rank = path.slice(end + 1) === RESOURCE ? direction : 0;
  return [project, PROJECT.test(path) ? direction : 0, path.slice(0, Math.max(end, 0)), rank, path];
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
