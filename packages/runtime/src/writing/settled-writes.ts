import { createHash } from 'node:crypto';
import type { KubernetesObject } from '@bowline/kubernetes';
import { BoundedMap, type FieldsV1, ownedValues } from '@bowline/machinery';

/** SettledWritesOptions configures the memory. */
export interface SettledWritesOptions {
  /** How many objects are remembered; the one looked at longest ago is forgotten first. Defaults to 10,000. */
  readonly limit?: number | undefined;
}

interface Settled {
  readonly desired: string;
  readonly resourceVersion: string | undefined;
  /** What the server made of it, when that is not what was asked for. */
  readonly outcome: string | undefined;
}

/**
 * SettledWrites remembers what the server answered to writes. It spares requests in two cases that the stored object alone
 * cannot decide: when the cache keeps too little of it to compare, and when the server or a webhook always stores something
 * else than what is asked for. It holds hashes only. One is shared by all writes of a field manager.
 */
export class SettledWrites {
  readonly #entries: BoundedMap<string, Settled>;

  constructor(options: SettledWritesOptions = {}) {
    this.#entries = new BoundedMap({ maxEntries: options.limit ?? 10_000 });
  }

  /** settle remembers the server's answer to a write. `owned` is our set of fields in it, when the answer is not what was asked for. */
  settle(answer: KubernetesObject, desired: object, owned: FieldsV1 | undefined): void {
    const { uid, resourceVersion } = answer.metadata ?? {};
    if (uid === undefined) return;
    const outcome = owned && outcomeOf(answer, owned);
    this.#entries.set(uid, { desired: hashOf(desired), resourceVersion, outcome });
  }

  /** isAt says that nothing happened to the object since a write of the same settled it. */
  isAt(metadata: NonNullable<KubernetesObject['metadata']>, desired: object): boolean {
    const entry = this.#entries.get(metadata.uid ?? '');
    if (entry?.resourceVersion === undefined || entry.resourceVersion !== metadata.resourceVersion) return false;
    return entry.desired === hashOf(desired);
  }

  /** isOutcome says that our part of the object is what the server made of the same wish before. */
  isOutcome(object: KubernetesObject, desired: object, owned: FieldsV1): boolean {
    const entry = this.#entries.get(object.metadata?.uid ?? '');
    if (entry?.outcome === undefined || entry.desired !== hashOf(desired)) return false;
    return entry.outcome === outcomeOf(object, owned);
  }
}

function outcomeOf(object: KubernetesObject, owned: FieldsV1): string {
  return hashOf([owned, ownedValues(object, owned)]);
}

/** Values may be secret: nothing but their hash is kept. */
function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
