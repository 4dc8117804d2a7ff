import type { Log } from '../../observability/log.ts';
import type { Counter, Metrics } from '../../observability/metrics.ts';
import type { TlsMaterial } from './certificate-source.ts';

/** ServedCertificate holds the certificate that is served, and tells of changes. Every source of certificates has one. */
export class ServedCertificate implements Disposable {
  readonly #log: Log;
  readonly #listeners = new Set<(certificate: TlsMaterial) => void>();
  readonly #reads: Counter;
  readonly #errors: Counter;
  readonly #collector: Disposable;
  #current: TlsMaterial | undefined;
  #problem: Error | undefined;

  constructor(operator: string, log: Log, metrics: Metrics) {
    this.#log = log;
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
      if (this.#current) expiry.set(this.#current.notAfter / 1000, { operator });
    });
  }

  get current(): TlsMaterial | undefined {
    return this.#current;
  }

  get problem(): Error | undefined {
    return this.#problem;
  }

  /** serve makes a certificate the served one; the same one again changes nothing. */
  serve(certificate: TlsMaterial): void {
    if (certificate.fingerprint === this.#current?.fingerprint) return;
    this.#current = certificate;
    this.#reads.add();
    const notAfter = new Date(certificate.notAfter).toISOString();
    this.#log.info('serving a new webhook certificate', { fingerprint: certificate.fingerprint, notAfter });
    for (const listener of this.#listeners) listener(certificate);
  }

  /** failed notes why the certificate cannot be kept current; logged when it changes. */
  failed(error: Error): void {
    this.#errors.add();
    if (this.#problem?.message !== error.message) this.#log.warn('webhook certificate is not kept current', { error });
    this.#problem = error;
  }

  /** succeeded forgets an earlier failure. */
  succeeded(): void {
    this.#problem = undefined;
  }

  subscribe(listener: (certificate: TlsMaterial) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#collector[Symbol.dispose]();
  }
}
