import type { KubernetesObject } from '@bowline/kubernetes';
import { parseFieldSelector } from '@bowline/machinery';

/** Matcher returns whether a selector matches a value. */
export type Matcher<T> = (value: T) => boolean;

/** matchFields compiles a field selector into a predicate on objects; a field's name is its path in the object. */
export function matchFields(selector: string): Matcher<KubernetesObject> {
  const parsed = parseFieldSelector(selector);
  const paths = parsed.requirements.map(({ field }) => [field, field.split('.')] as const);
  return (object) => parsed.matches(Object.fromEntries(paths.map(([field, path]) => [field, fieldOf(object, path)])));
}

function fieldOf(object: unknown, path: readonly string[]): string {
  let value: unknown = object;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return '';
    value = (value as Record<string, unknown>)[step];
  }
  return value === undefined || value === null ? '' : String(value);
}
