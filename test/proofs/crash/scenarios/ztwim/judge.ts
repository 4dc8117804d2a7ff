import type { KubernetesObject } from '@bowline/kubernetes';

/** Expected is an object that must exist with at least this content; undefined means that only its existence counts. */
export interface Expected {
  readonly id: string;
  readonly content: object | undefined;
}

/** Found are the objects of the operator that exist, by id: `ConfigMap spire-server`. */
export type Found = ReadonlyMap<string, KubernetesObject>;

/** judge returns what is missing, left over or wrong. */
export function judge(found: Found, expected: readonly Expected[]): readonly string[] {
  const wanted = new Set(expected.map(({ id }) => id));
  return [
    ...expected.flatMap(({ id, content }) => {
      const object = found.get(id);
      if (!object) return [`${id} is missing`];
      const wrong = content === undefined ? undefined : difference(content, object);
      return wrong === undefined ? [] : [`${id} has another ${wrong}`];
    }),
    ...[...found.keys()].filter((id) => !wanted.has(id)).map((id) => `${id} is left over`),
  ];
}

/** difference returns the path of the first part of the wanted content that an object does not have. */
function difference(wanted: unknown, found: unknown, path = ''): string | undefined {
  if (wanted === undefined) return undefined;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return path;
    return first(wanted.map((each, index) => difference(each, found[index], `${path}[${index}]`)));
  }
  if (typeof wanted !== 'object' || wanted === null) return wanted === found ? undefined : path;
  if (typeof found !== 'object' || found === null) {
    // The API server does not store what is empty.
    return found === undefined && Object.keys(wanted).length === 0 ? undefined : path;
  }
  const of: Readonly<Record<string, unknown>> = { ...found };
  return first(
    Object.entries(wanted).map(([name, each]) => difference(each, of[name], path === '' ? name : `${path}.${name}`)),
  );
}

function first(paths: readonly (string | undefined)[]): string | undefined {
  return paths.find((each) => each !== undefined);
}
