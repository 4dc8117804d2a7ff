import { isDeepStrictEqual } from 'node:util';
import type { StructuralSchema } from '@bowline/machinery/schema';
import { type InstallFields, installFields } from './install-config.ts';

/**
 * mergeInstall merges the fields of an install; `over` takes precedence. Maps are merged key by key, and lists with
 * keys (`env`, `volumes`, `imagePullSecrets` by name, `volumeMounts` by path) item by item, where an item replaces one
 * of the same key. Other lists are joined. Everything else is replaced.
 */
export function mergeInstall(base: InstallFields, over: InstallFields): InstallFields {
  // Both values match the schema, and the merged value does too.
  return merge(base, over, installFields.json) as InstallFields;
}

function merge(base: unknown, over: unknown, schema: StructuralSchema): unknown {
  if (over === undefined) return base;
  if (Array.isArray(base) && Array.isArray(over)) return mergeLists(base, over, schema);
  const isWhole = schema['x-kubernetes-map-type'] === 'atomic';
  if (isWhole || !isObject(base) || !isObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    merged[name] = merge(base[name], value, schema.properties?.[name] ?? {});
  }
  return merged;
}

function mergeLists(base: readonly unknown[], over: readonly unknown[], schema: StructuralSchema): readonly unknown[] {
  const [key] = schema['x-kubernetes-list-map-keys'] ?? [];
  const isSame = (one: unknown, other: unknown): boolean =>
    key === undefined ? isDeepStrictEqual(one, other) : isObject(one) && isObject(other) && one[key] === other[key];
  const replaced = base.map((item) => over.find((each) => isSame(item, each)) ?? item);
  return [...replaced, ...over.filter((item) => !base.some((each) => isSame(each, item)))];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * conflictsBetween returns the fields that both set, to different values: merging would take one of them and drop the
 * other.
 */
export function conflictsBetween(one: InstallFields, other: InstallFields): readonly string[] {
  return conflicts(one, other, installFields.json, '');
}

function conflicts(one: unknown, other: unknown, schema: StructuralSchema, path: string): readonly string[] {
  if (one === undefined || other === undefined || isDeepStrictEqual(one, other)) return [];
  if (Array.isArray(one) && Array.isArray(other)) {
    const [key] = schema['x-kubernetes-list-map-keys'] ?? [];
    if (key === undefined) return [];
    return one.flatMap((item: Readonly<Record<string, unknown>>) => {
      const same: unknown = other.find((each: Readonly<Record<string, unknown>>) => each[key] === item[key]);
      return same === undefined || isDeepStrictEqual(item, same) ? [] : [`${path}[${String(item[key])}]`];
    });
  }
  if (schema['x-kubernetes-map-type'] === 'atomic' || !isObject(one) || !isObject(other)) return [path];
  return Object.entries(one).flatMap(([name, value]) =>
    conflicts(value, other[name], schema.properties?.[name] ?? {}, path === '' ? name : `${path}.${name}`),
  );
}
