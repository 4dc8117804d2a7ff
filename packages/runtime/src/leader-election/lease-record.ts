import { apiVersionOf, Lease, type LeaseSpec, type ObjectKey } from '@bowline/kubernetes';
import { integerBelow, type Random } from '@bowline/machinery';

/**
 * microTime returns a Lease timestamp: RFC 3339 with six decimals. The clock has three; the others are random, so that
 * acquireTime distinguishes two processes that were given the same identity by mistake.
 */
export function microTime(nowMs: number, random: Random): string {
  const micros = String(integerBelow(random, 1000)).padStart(3, '0');
  return new Date(nowMs).toISOString().replace('Z', `${micros}Z`);
}

/** Claim holds the values a candidate writes to the Lease. */
export interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** The MicroTime of this write. */
  readonly at: string;
}

/** newLease returns the Lease of a first holder. */
export function newLease(key: ObjectKey, claim: Claim): Lease {
  return {
    apiVersion: apiVersionOf(Lease),
    kind: Lease.kind,
    metadata: { name: key.name, ...(key.namespace === undefined ? {} : { namespace: key.namespace }) },
    spec: { ...claimed(claim), acquireTime: claim.at, leaseTransitions: 0 },
  };
}

/**
 * takenOver returns the Lease as written by its next holder. This and the functions below keep fields set by others.
 */
export function takenOver(lease: Lease, claim: Claim): Lease {
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  return { ...lease, spec: { ...lease.spec, ...claimed(claim), acquireTime: claim.at, leaseTransitions } };
}

/** renewed returns the Lease as written by a renewal of its holder. */
export function renewed(lease: Lease, claim: Claim): Lease {
  return { ...lease, spec: { ...lease.spec, ...claimed(claim) } };
}

/**
 * released returns the Lease without a holder. One second is the shortest duration the API accepts; candidates need not
 * wait for it.
 */
export function released(lease: Lease, at: string): Lease {
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: at, renewTime: at },
  };
}

function claimed(claim: Claim): LeaseSpec {
  return {
    holderIdentity: claim.identity,
    // Round up, so that other candidates wait longer than the holder assumes, never shorter.
    leaseDurationSeconds: Math.ceil(claim.leaseDurationMs / 1000),
    renewTime: claim.at,
  };
}

/** holderOf returns the holder in the record, or undefined after a release. */
export function holderOf(lease: Lease | undefined): string | undefined {
  return lease?.spec?.holderIdentity || undefined;
}

/**
 * LeaseObservation decides by the local clock whether a Lease held by another process has expired: the record counts as
 * valid for its duration from the moment this process first observed it in its current form. The timestamps in the
 * record come from another machine and are never compared.
 */
export class LeaseObservation {
  readonly #fallbackDurationMs: number;
  #seen: Lease | undefined;
  #fingerprint = '';
  #expiresAt = Number.NEGATIVE_INFINITY;

  /** `fallbackDurationMs` is used for a record without a valid duration. */
  constructor(fallbackDurationMs: number) {
    this.#fallbackDurationMs = fallbackDurationMs;
  }

  /**
   * observe records the Lease that the API server returned at `monotonicMs`, the time the response arrived. A deleted
   * Lease keeps its last holder until it would have expired, because deleting it does not stop the holder.
   */
  observe(lease: Lease | undefined, monotonicMs: number): void {
    if (!lease) return;
    const fingerprint = JSON.stringify([lease.metadata?.uid, lease.spec]);
    this.#seen = lease;
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    const seconds = lease.spec?.leaseDurationSeconds ?? 0;
    this.#expiresAt = monotonicMs + (seconds > 0 ? seconds * 1000 : this.#fallbackDurationMs);
  }

  /** holder returns the holder of the last observed Lease. */
  get holder(): string | undefined {
    return holderOf(this.#seen);
  }

  /** remainingMs returns how long the observed holder must still be respected; zero if there is none. */
  remainingMs(monotonicMs: number): number {
    return this.holder === undefined ? 0 : Math.max(0, this.#expiresAt - monotonicMs);
  }
}
