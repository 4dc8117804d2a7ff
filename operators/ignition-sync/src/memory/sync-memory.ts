import { keyString, type ObjectKey } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { GitSource } from '../source/source-identity.ts';

/** CheckedSecrets is the result of the last reads of the Secrets of an IgnitionSync. It contains no value of them. */
export interface CheckedSecrets {
  /** Undefined if a Secret is missing. */
  readonly source: GitSource | undefined;
  /** Changes with the values of the Secrets. */
  readonly digest: string;
  /** Which Secret is missing for git. */
  readonly problem: string | undefined;
  /** Which Secret is missing for gateways. */
  readonly gatewayProblem: string | undefined;
  /** Why the secret of webhooks cannot be used. */
  readonly webhookProblem: string | undefined;
}

interface Entry {
  readonly uid: string;
  /** The fingerprints in the status when this process first saw the IgnitionSync: part of the identity of its source. */
  readonly pinned: readonly string[];
  secrets?: { readonly at: number; readonly version: string; readonly checked: CheckedSecrets } | undefined;
  detailsAt?: number | undefined;
}

/** Secrets are read again after this time: no watch reports that they changed. */
const SECRETS_MAX_AGE_MS = 9_000;

/** The status of gateways and further steps of a rollout are written at most once in this time. */
const DETAILS_INTERVAL_MS = 1_000;

/** SyncMemory holds what is remembered about IgnitionSyncs between runs. Without it, they only cost more requests. */
export class SyncMemory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** pinnedAtFirst returns the fingerprints that the status had when this process first saw the IgnitionSync. */
  pinnedAtFirst(key: ObjectKey, uid: string, pinned: readonly string[]): readonly string[] {
    return this.#entry(key, uid, pinned).pinned;
  }

  /** secrets returns the result of `read`, or of an earlier one if `version` is the same and it is recent enough. */
  async secrets(
    key: ObjectKey,
    uid: string,
    version: string,
    read: () => Promise<CheckedSecrets>,
  ): Promise<CheckedSecrets> {
    const known = this.#entry(key, uid).secrets;
    const now = this.#clock.monotonic();
    if (known?.version === version && now - known.at < SECRETS_MAX_AGE_MS) return known.checked;
    const checked = await read();
    this.#entry(key, uid).secrets = { at: now, version, checked };
    return checked;
  }

  /** detailsDelayMs returns for how long details must not be written. */
  detailsDelayMs(key: ObjectKey, uid: string): number {
    const { detailsAt } = this.#entry(key, uid);
    if (detailsAt === undefined) return 0;
    return Math.max(0, detailsAt + DETAILS_INTERVAL_MS - this.#clock.monotonic());
  }

  /** detailsWritten records that details were written. */
  detailsWritten(key: ObjectKey, uid: string): void {
    this.#entry(key, uid).detailsAt = this.#clock.monotonic();
  }

  /** forget removes everything about an IgnitionSync. */
  forget(key: ObjectKey): void {
    this.#entries.delete(keyString(key));
  }

  /** An object that was recreated with the same name is another one. */
  #entry(key: ObjectKey, uid: string, pinned: readonly string[] = []): Entry {
    const id = keyString(key);
    const known = this.#entries.get(id);
    if (known?.uid === uid) return known;
    const entry: Entry = { uid, pinned };
    this.#entries.set(id, entry);
    return entry;
  }
}
