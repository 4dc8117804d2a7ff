import type { CustomResourceDefinition } from '@bowline/kubernetes';

/**
 * lostVersions returns the versions of a stored definition that another one would remove: those that are served now,
 * and those in which objects may still be stored.
 */
export function lostVersions(stored: CustomResourceDefinition, next: CustomResourceDefinition): readonly string[] {
  const all = new Set(next.spec.versions.map(({ name }) => name));
  const served = new Set(next.spec.versions.filter((version) => version.served).map(({ name }) => name));
  const lost = new Set<string>();
  for (const version of stored.spec.versions) if (version.served && !served.has(version.name)) lost.add(version.name);
  for (const name of stored.status?.storedVersions ?? []) if (!all.has(name)) lost.add(name);
  return [...lost].sort();
}
