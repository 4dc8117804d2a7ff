import type { KubernetesObject } from '@bowline/kubernetes';

/** Leftovers are members that stand in a stored map and should not. */
export interface Leftovers {
  /** The first one's map. */
  readonly path: string;
  /** A merge patch that removes them. */
  readonly body: { readonly [field: string]: unknown };
}

/** leftoversOf finds what stands in the named maps of a stored object and not in those of the desired one. */
export function leftoversOf(
  object: KubernetesObject,
  desired: KubernetesObject,
  paths: readonly (readonly string[])[],
): Leftovers | undefined {
  let body: { [field: string]: unknown } | undefined;
  let first = '';
  for (const path of paths) {
    const wanted = mapAt(desired, path);
    const extra = Object.keys(mapAt(object, path)).filter((name) => wanted[name] === undefined);
    if (extra.length === 0) continue;
    if (body === undefined) {
      body = {};
      first = `.${path.join('.')}`;
    }
    let here = body;
    for (const name of path) {
      const below = (here[name] ?? {}) as { [field: string]: unknown };
      here[name] = below;
      here = below;
    }
    for (const name of extra) here[name] = null;
  }
  return body && { path: first, body };
}

function mapAt(value: unknown, path: readonly string[]): { readonly [name: string]: unknown } {
  let here = value;
  for (const name of path) here = isMap(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return isMap(here) ? here : {};
}

function isMap(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
