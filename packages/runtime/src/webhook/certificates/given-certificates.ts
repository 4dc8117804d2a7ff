import { between, type Clock, type Random } from '@bowline/machinery';
import { isAlreadyExists, isConflict } from '../../errors/api-error.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { CertificateSource, TlsMaterial } from './certificate-source.ts';
import { Doorbell } from './doorbell.ts';
import { readAuthorities, readLeaf } from './pem.ts';
import { ServedCertificate } from './served-certificate.ts';
import type { Trust } from './trust.ts';

/** GivenPair is what somebody else provides, as text. */
export interface GivenPair {
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** The authorities to trust; undefined when they are not given. */
  readonly bundlePem: string | undefined;
}

/** GivenPlace is where somebody else puts a certificate. */
export interface GivenPlace {
  /** For messages: `the folder /certs`. */
  readonly name: string;
  /** read gives what is there now; throws when it cannot be read. */
  read(): Promise<GivenPair>;
  /** watch calls back when something may have changed. */
  watch(changed: () => void): Disposable;
  /** ready resolves once the place can be read. */
  ready(signal: AbortSignal): Promise<void>;
  /** How often to look although nothing was heard. */
  readonly lookEveryMs: number;
}

/** GivenCertificatesOptions says where the certificate is and who must learn of its authority. */
export interface GivenCertificatesOptions {
  readonly operator: string;
  readonly place: GivenPlace;
  /** `noTrust` when somebody else, such as cert-manager's injector, makes the authority known. */
  readonly trust: Trust;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** While something is wrong it is looked at again this often at the latest. */
const RETRY_MS = 10_000;

/** GivenCertificates serves a certificate that somebody else issues and renews. A broken one never replaces a good one. */
export class GivenCertificates implements CertificateSource {
  readonly #options: GivenCertificatesOptions;
  readonly #served: ServedCertificate;
  readonly #bell: Doorbell;

  constructor(options: GivenCertificatesOptions) {
    this.#options = options;
    this.#served = new ServedCertificate(options.operator, options.log, options.metrics);
    this.#bell = new Doorbell(options.clock);
  }

  get current(): TlsMaterial | undefined {
    return this.#served.current;
  }

  subscribe(listener: (certificate: TlsMaterial) => void): Disposable {
    return this.#served.subscribe(listener);
  }

  problem(): Error | undefined {
    return this.#served.problem;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { place, trust, random } = this.#options;
    using _served = this.#served;
    using _place = place.watch(() => this.#bell.ring());
    using _trust = trust.subscribe(() => this.#bell.ring());
    try {
      await Promise.all([place.ready(signal), trust.synced(signal)]);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    while (!signal.aborted) {
      let waitMs = place.lookEveryMs;
      try {
        await this.#work(signal);
        this.#served.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        waitMs = between(random, RETRY_MS / 2, RETRY_MS);
        if (!isConflict(error) && !isAlreadyExists(error)) {
          this.#served.failed(error instanceof Error ? error : new Error('unexpected failure', { cause: error }));
        }
      }
      await this.#bell.wait(waitMs, signal);
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { place, trust } = this.#options;
    const pair = await place.read();
    const bundle = bundleFrom(pair);
    // Before the certificate: once it is served, its authority should be known.
    if (bundle !== undefined && !trust.isCurrent(bundle)) {
      await trust.spread(async () => bundleFrom(await place.read()), signal);
    }
    const { certificatePem, keyPem, fingerprint, notAfter } = readLeaf(place.name, pair.certificatePem, pair.keyPem);
    this.#served.serve({ certificatePem, keyPem, fingerprint, notAfter });
  }
}

function bundleFrom({ bundlePem }: GivenPair): string | undefined {
  const authorities = readAuthorities(bundlePem ?? '');
  return authorities.length > 0 ? authorities.map(({ certificatePem }) => certificatePem).join('') : undefined;
}
