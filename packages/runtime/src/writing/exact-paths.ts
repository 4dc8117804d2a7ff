import type { KubernetesObject } from '@bowline/kubernetes';
import { type FieldsV1, fieldBelow, isObject } from '@bowline/machinery';

/** Leftovers are members that stand in a stored map and should not. */
export interface Leftovers {
  /** The first one's map. */
  readonly path: string;
  /** A merge patch that removes them. */
  readonly body: { readonly [field: string]: unknown };
}

/** ExactMap is a map in which nothing but what is desired may stand. */
export interface ExactMap {
  readonly path: readonly string[];
  /** Only members that are in this set have to go. Defaults to all. */
  readonly within?: FieldsV1 | undefined;
}

/** leftoversOf finds what stands in the named maps of a stored object and not in those of the desired one. */
export function leftoversOf(
  object: KubernetesObject,
  desired: KubernetesObject,
  maps: readonly ExactMap[],
): Leftovers | undefined {
  let body: { [field: string]: unknown } | undefined;
  let first = '';
  for (const { path, within } of maps) {
    const wanted = mapAt(desired, path);
    const below = within && setAt(within, path);
    const extra = Object.keys(mapAt(object, path)).filter(
      (name) => wanted[name] === undefined && (!within || (below && fieldBelow(below, name))),
    );
    if (extra.length === 0) continue;
    if (body === undefined) {
      body = {};
      first = `.${path.join('.')}`;
    }
    let here = body;
    for (const name of path) {
      const inside = (here[name] ?? {}) as { [field: string]: unknown };
      here[name] = inside;
      here = inside;
    }
    for (const name of extra) here[name] = null;
  }
  return body && { path: first, body };
}

function setAt(fields: FieldsV1, path: readonly string[]): FieldsV1 | undefined {
  return path.reduce<FieldsV1 | undefined>((here, name) => here && fieldBelow(here, name), fields);
}

function mapAt(value: unknown, path: readonly string[]): { readonly [name: string]: unknown } {
  let here = value;
  for (const name of path) here = isObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  return isObject(here) ? here : {};
}
