import { createHash } from 'node:crypto';
import type { KubernetesObject } from '@bowline/kubernetes';
import { BoundedMap, type FieldsV1, ownedValues } from '@bowline/machinery';

/** WriteMemoOptions configures WriteMemo. */
export interface WriteMemoOptions {
  /** How many objects are remembered; the least recently used one is forgotten first. Defaults to 10,000. */
  readonly limit?: number | undefined;
}

interface MemoEntry {
  readonly desired: string;
  readonly resourceVersion: string | undefined;
  /** A hash of what the server stored, when that differs from the desired object. */
  readonly outcome: string | undefined;
}

/**
 * WriteMemo remembers the server's responses to writes. It saves requests in two cases that the stored object alone
 * cannot decide: when the cache keeps too little of it to compare, and when the server or a webhook always stores
 * something other than the desired object. It holds only hashes. All writes of a field manager share one instance.
 */
export class WriteMemo {
  readonly #entries: BoundedMap<string, MemoEntry>;

  constructor(options: WriteMemoOptions = {}) {
    this.#entries = new BoundedMap({ maxEntries: options.limit ?? 10_000 });
  }

  /**
   * remember remembers the server's response to a write. `owned` is our set of fields in it, when the response differs
   * from the desired object.
   */
  remember(response: KubernetesObject, desired: object, owned: FieldsV1 | undefined): void {
    const { uid, resourceVersion } = response.metadata ?? {};
    if (uid === undefined) return;
    const outcome = owned && outcomeOf(response, owned);
    this.#entries.set(uid, { desired: hashOf(desired), resourceVersion, outcome });
  }

  /** isUnchanged reports whether the object is unchanged since a write of the same desired object. */
  isUnchanged(metadata: NonNullable<KubernetesObject['metadata']>, desired: object): boolean {
    const entry = this.#entries.get(metadata.uid ?? '');
    if (entry?.resourceVersion === undefined || entry.resourceVersion !== metadata.resourceVersion) return false;
    return entry.desired === hashOf(desired);
  }

  /**
   * hasSameOutcome reports whether our part of the object is what the server made of the same desired object before.
   */
  hasSameOutcome(object: KubernetesObject, desired: object, owned: FieldsV1): boolean {
    const entry = this.#entries.get(object.metadata?.uid ?? '');
    if (entry?.outcome === undefined || entry.desired !== hashOf(desired)) return false;
    return entry.outcome === outcomeOf(object, owned);
  }
}

function outcomeOf(object: KubernetesObject, owned: FieldsV1): string {
  return hashOf([owned, ownedValues(object, owned)]);
}

/** Values may be secret: only their hash is kept. */
function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
