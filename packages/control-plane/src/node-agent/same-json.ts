import { isDeepStrictEqual } from 'node:util';

/**
 * sameJson compares values like the API server: it writes null and {} for unset fields (`lastProbeTime`, `lastState`), so a value
 * that was never set equals both.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(compact(a), compact(b));
}

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, member]) => [key, compact(member)] as const)
    .filter(([, member]) => member !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
