import { apiVersionOf, Lease, type LeaseSpec, type ObjectKey } from '@bowline/kubernetes';
import { integerBelow, type Random } from '@bowline/machinery';

/**
 * microTime is a Lease's timestamp: RFC 3339 with six decimals. The clock gives three; the rest is chance, so that the
 * acquireTime tells apart two processes that were given the same identity by mistake.
 */
export function microTime(nowMs: number, random: Random): string {
  const micros = String(integerBelow(random, 1000)).padStart(3, '0');
  return new Date(nowMs).toISOString().replace('Z', `${micros}Z`);
}

/** Claim is what a candidate writes into the Lease. */
export interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** MicroTime of this write. */
  readonly at: string;
}

/** newLease is the Lease of a first holder. */
export function newLease(key: ObjectKey, claim: Claim): Lease {
  return {
    apiVersion: apiVersionOf(Lease),
    kind: Lease.kind,
    metadata: { name: key.name, ...(key.namespace === undefined ? {} : { namespace: key.namespace }) },
    spec: { ...claimed(claim), acquireTime: claim.at, leaseTransitions: 0 },
  };
}

/** takenOver is the Lease as its next holder writes it. Fields that are not ours are kept, here and below. */
export function takenOver(lease: Lease, claim: Claim): Lease {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  return { ...lease, spec: { ...lease.spec, ...claimed(claim), acquireTime: claim.at, leaseTransitions } };
}

/** renewed is the Lease as its holder writes it again and again. */
export function renewed(lease: Lease, claim: Claim): Lease {
  return { ...lease, spec: { ...lease.spec, ...claimed(claim) } };
}

/** released is the Lease without a holder. One second is the shortest the API takes: nobody has to wait for it. */
export function released(lease: Lease, at: string): Lease {
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: at, renewTime: at },
  };
}

function claimed(claim: Claim): LeaseSpec {
  return {
    holderIdentity: claim.identity,
    // Rounded up: others then wait longer than the holder counts on, never shorter.
    leaseDurationSeconds: Math.ceil(claim.leaseDurationMs / 1000),
    renewTime: claim.at,
  };
}

/** holderOf is who holds the Lease according to the record; undefined once it was released. */
export function holderOf(lease: Lease | undefined): string | undefined {
  return lease?.spec?.holderIdentity || undefined;
}

/**
 * LeaseObservation judges by one machine's own clock whether somebody else's Lease has run out: the record counts as
 * alive for its duration from the moment this process first saw it in its present form. Timestamps in the record are
 * another machine's and are never compared.
 */
export class LeaseObservation {
  readonly #fallbackDurationMs: number;
  #seen: Lease | undefined;
  #print = '';
  #expiresAt = Number.NEGATIVE_INFINITY;

  /** `fallbackDurationMs` stands in for a record that names no usable duration. */
  constructor(fallbackDurationMs: number) {
    this.#fallbackDurationMs = fallbackDurationMs;
  }

  /**
   * note takes in what the API answered at `monotonicMs`, the moment the answer came. A Lease that has vanished keeps
   * its last holder until that runs out: whoever deleted it did not stop the holder.
   */
  note(lease: Lease | undefined, monotonicMs: number): void {
    if (!lease) return;
    const print = JSON.stringify([lease.metadata?.uid, lease.spec]);
    this.#seen = lease;
    if (print === this.#print) return;
    this.#print = print;
    const seconds = lease.spec?.leaseDurationSeconds ?? 0;
    this.#expiresAt = monotonicMs + (seconds > 0 ? seconds * 1000 : this.#fallbackDurationMs);
  }

  /** holder is who held the Lease when it was last seen. */
  get holder(): string | undefined {
    return holderOf(this.#seen);
  }

  /** remainingMs is how long the seen holder must still be respected; zero when there is none. */
  remainingMs(monotonicMs: number): number {
    return this.holder === undefined ? 0 : Math.max(0, this.#expiresAt - monotonicMs);
  }
}
