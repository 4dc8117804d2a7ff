import { between, type Clock, type Random, WakeSignal } from '@bowline/machinery';
import { isAlreadyExists, isConflict } from '../errors/api-error.ts';
import type { Log } from '../observability/log.ts';
import type { Counter, Metrics } from '../observability/metrics.ts';
import type { CertificateProfile } from './certificate-profile.ts';
import type { CertificateSource, TlsMaterial } from './certificate-source.ts';

/** MaintainedCertificateOptions holds the options common to all certificate sources. */
export interface MaintainedCertificateOptions {
  readonly profile: CertificateProfile;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

const FIRST_RETRY_MS = 1_000;
/** Timers use a clock that stops while the machine is suspended; the wall clock is checked at least this often. */
const MAX_WAIT_MS = 12 * 3_600_000;

/**
 * MaintainedCertificate holds the served certificate and keeps it current: it runs whenever work is due or something
 * has changed, and retries failures. Subclasses implement where the certificate comes from.
 */
export abstract class MaintainedCertificate implements CertificateSource {
  readonly announced: Promise<void>;
  readonly #log: Log;
  readonly #noun: string;
  readonly #random: Random;
  readonly #wakeSignal: WakeSignal;
  readonly #listeners = new Set<(certificate: TlsMaterial) => void>();
  readonly #reads: Counter;
  readonly #errors: Counter;
  readonly #collector: Disposable;
  #announce: () => void = () => {};
  #current: TlsMaterial | undefined;
  #problem: Error | undefined;

  constructor({ profile, clock, random, log, metrics }: MaintainedCertificateOptions) {
    this.#log = log;
    this.#noun = profile.noun;
    this.#random = random;
    this.#wakeSignal = new WakeSignal(clock);
    this.announced = new Promise((resolve) => {
      this.#announce = resolve;
    });
    this.#reads = metrics.counter({
      name: 'certwatcher_read_certificate_total',
      help: 'Certificates read, from a Secret or from files',
    });
    this.#errors = metrics.counter({
      name: 'certwatcher_read_certificate_errors_total',
      help: 'Certificates that could not be read or used',
    });
    this.#reads.add({}, 0);
    this.#errors.add({}, 0);
    const expiry = metrics.gauge({
      name: profile.expiryMetric,
      help: 'When the served certificate expires, since the epoch',
      labels: ['operator'],
    });
    this.#collector = metrics.collect(() => {
      if (this.#current) expiry.set(this.#current.notAfter / 1000, { operator: profile.operator });
    });
  }

  /** The maximum delay between two attempts after a failure. */
  protected abstract readonly maxRetryMs: number;
  /** Calls `changed` when something may have changed. */
  protected abstract watch(changed: () => void): readonly Disposable[];
  /** Resolves once the source can be read. */
  protected abstract ready(signal: AbortSignal): Promise<unknown>;
  /** Does the work that is due and returns the time until the next work. */
  protected abstract work(signal: AbortSignal): Promise<number>;

  get current(): TlsMaterial | undefined {
    return this.#current;
  }

  subscribe(listener: (certificate: TlsMaterial) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  problem(): Error | undefined {
    return this.#problem;
  }

  async run(signal: AbortSignal): Promise<void> {
    using _collector = this.#collector;
    const watches = this.watch(() => this.#wakeSignal.wake());
    try {
      await this.ready(signal);
      await this.#maintain(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const each of watches) each[Symbol.dispose]();
    }
  }

  /** serve replaces the served certificate; the same certificate has no effect. */
  protected serve({ certificatePem, keyPem, fingerprint, notAfter }: TlsMaterial): void {
    if (fingerprint === this.#current?.fingerprint) return;
    this.#current = { certificatePem, keyPem, fingerprint, notAfter };
    this.#reads.add();
    this.#log.info(`serving a new ${this.#noun}`, { fingerprint, notAfter: new Date(notAfter).toISOString() });
    for (const listener of this.#listeners) listener(this.#current);
  }

  /** announce records that the certificate is served and its CA is trusted. */
  protected announce(): void {
    if (this.#current) this.#announce();
  }

  async #maintain(signal: AbortSignal): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      let waitMs: number;
      try {
        waitMs = await this.work(signal);
        retryMs = FIRST_RETRY_MS;
        this.#problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        if (isConflict(error) || isAlreadyExists(error)) {
          // Another replica was faster: read what it wrote.
          waitMs = between(this.#random, 10, 200);
        } else {
          this.#failed(error instanceof Error ? error : new Error('unexpected failure', { cause: error }));
          waitMs = between(this.#random, retryMs / 2, retryMs);
          retryMs = Math.min(this.maxRetryMs, retryMs * 2);
        }
      }
      await this.#wakeSignal.wait(Math.min(waitMs, MAX_WAIT_MS), signal);
    }
  }

  /** Logged only when the problem changes. */
  #failed(error: Error): void {
    this.#errors.add();
    if (this.#problem?.message !== error.message) this.#log.warn(`${this.#noun} is not kept current`, { error });
    this.#problem = error;
  }
}
