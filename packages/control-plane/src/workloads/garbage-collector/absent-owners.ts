import type { OwnerReference } from '@bowline/kubernetes';
import { BoundedMap } from '@bowline/machinery';

/** A deleted owner of many objects is looked up once, not once for each of them. */
const MAX_REMEMBERED = 500;

/**
 * AbsentOwners remembers references to owners that do not exist. A uid is never reused, so an absent owner stays
 * absent.
 */
export class AbsentOwners {
  readonly #known = new BoundedMap<string, true>({ maxEntries: MAX_REMEMBERED });

  has(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#known.get(keyOf(reference, namespace)) ?? false;
  }

  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#known.set(keyOf(reference, namespace), true);
  }
}

function keyOf({ uid, apiVersion, kind, name }: OwnerReference, namespace: string | undefined): string {
  return JSON.stringify([uid, apiVersion, kind, name, namespace]);
}
