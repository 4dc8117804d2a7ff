import { between, type Clock, type Random } from '@bowline/machinery';
import { isAlreadyExists, isConflict } from '../../errors/api-error.ts';
import type { OperatorIdentity } from '../../identity/operator-identity.ts';
import type { Log } from '../../observability/log.ts';
import type { Counter, Metrics } from '../../observability/metrics.ts';
import type { CertificateSource, TlsMaterial } from './certificate-source.ts';
import { Doorbell } from './doorbell.ts';

/** KeptCertificateOptions is what every source of certificates needs. */
export interface KeptCertificateOptions {
  readonly identity: OperatorIdentity;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

const FIRST_RETRY_MS = 1_000;
/** Timers run on a clock that a suspended machine stops; the wall clock is looked at no less often than this. */
const LONGEST_WAIT_MS = 12 * 3_600_000;

/**
 * KeptCertificate holds the certificate that is served and keeps it current: it works whenever that is due or something has
 * changed, and tries again what fails. Where the certificate comes from is what its kinds differ in.
 */
export abstract class KeptCertificate implements CertificateSource {
  readonly announced: Promise<void>;
  readonly #log: Log;
  readonly #random: Random;
  readonly #bell: Doorbell;
  readonly #listeners = new Set<(certificate: TlsMaterial) => void>();
  readonly #reads: Counter;
  readonly #errors: Counter;
  readonly #collector: Disposable;
  #announce: () => void = () => {};
  #current: TlsMaterial | undefined;
  #problem: Error | undefined;

  constructor({ identity, clock, random, log, metrics }: KeptCertificateOptions) {
    this.#log = log;
    this.#random = random;
    this.#bell = new Doorbell(clock);
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
      name: 'bowline_webhook_certificate_expiry_timestamp_seconds',
      help: 'When the served certificate expires, since the epoch',
      labels: ['operator'],
    });
    this.#collector = metrics.collect(() => {
      if (this.#current) expiry.set(this.#current.notAfter / 1000, { operator: identity.name });
    });
  }

  /** The longest time between two attempts while something is wrong. */
  protected abstract readonly longestRetryMs: number;
  /** Calls back when something may have changed. */
  protected abstract watch(changed: () => void): readonly Disposable[];
  /** Resolves once there is something to work with. */
  protected abstract ready(signal: AbortSignal): Promise<unknown>;
  /** Does what is due and gives the time until something will be. */
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
    const watches = this.watch(() => this.#bell.ring());
    try {
      await this.ready(signal);
      await this.#keep(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const each of watches) each[Symbol.dispose]();
    }
  }

  /** serve makes a certificate the served one; the same one again changes nothing. */
  protected serve({ certificatePem, keyPem, fingerprint, notAfter }: TlsMaterial): void {
    if (fingerprint === this.#current?.fingerprint) return;
    this.#current = { certificatePem, keyPem, fingerprint, notAfter };
    this.#reads.add();
    this.#log.info('serving a new webhook certificate', { fingerprint, notAfter: new Date(notAfter).toISOString() });
    for (const listener of this.#listeners) listener(this.#current);
  }

  /** announce tells that API servers ask, and believe what answers. */
  protected announce(): void {
    if (this.#current) this.#announce();
  }

  async #keep(signal: AbortSignal): Promise<void> {
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
          // Another replica was quicker: look at what it wrote.
          waitMs = between(this.#random, 10, 200);
        } else {
          this.#failed(error instanceof Error ? error : new Error('unexpected failure', { cause: error }));
          waitMs = between(this.#random, retryMs / 2, retryMs);
          retryMs = Math.min(this.longestRetryMs, retryMs * 2);
        }
      }
      await this.#bell.wait(Math.min(waitMs, LONGEST_WAIT_MS), signal);
    }
  }

  /** Logged when it changes. */
  #failed(error: Error): void {
    this.#errors.add();
    if (this.#problem?.message !== error.message) this.#log.warn('webhook certificate is not kept current', { error });
    this.#problem = error;
  }
}
