import type { OwnerReference } from '@bowline/kubernetes';

/** A deleted owner of many is asked about once, not once for each of them. */
const MOST_REMEMBERED = 500;

/** AbsentOwners remembers references that led to nothing. A uid never comes back, so what is absent stays it. */
export class AbsentOwners {
  readonly #known = new Set<string>();

  has(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#known.has(keyOf(reference, namespace));
  }

  add(reference: OwnerReference, namespace: string | undefined): void {
    this.#known.add(keyOf(reference, namespace));
    if (this.#known.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}

function keyOf({ uid, apiVersion, kind, name }: OwnerReference, namespace: string | undefined): string {
  return JSON.stringify([uid, apiVersion, kind, name, namespace]);
}
