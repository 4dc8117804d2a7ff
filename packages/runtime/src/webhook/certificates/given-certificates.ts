import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../../errors/bowline-error.ts';
import { KeptCertificate, type KeptCertificateOptions } from './kept-certificate.ts';
import { type Leaf, misfit, readAuthorities, readLeaf } from './pem.ts';
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
export interface GivenCertificatesOptions extends KeptCertificateOptions {
  readonly place: GivenPlace;
  /** What the API server calls the webhook by; host names and IP addresses. */
  readonly names: readonly string[];
  /** `noTrust` when somebody else, such as cert-manager's injector, makes the authority known. */
  readonly trust: Trust;
}

/**
 * GivenCertificates serves a certificate that somebody else issues and renews. One that is broken, or that API
 * servers would refuse, never replaces a good one.
 */
export class GivenCertificates extends KeptCertificate {
  protected readonly longestRetryMs = 10_000;
  readonly #place: GivenPlace;
  readonly #names: readonly string[];
  readonly #clock: Clock;
  readonly #trust: Trust;

  constructor(options: GivenCertificatesOptions) {
    super(options);
    this.#place = options.place;
    this.#names = options.names;
    this.#clock = options.clock;
    this.#trust = options.trust;
  }

  protected watch(changed: () => void): readonly Disposable[] {
    return [this.#place.watch(changed), this.#trust.subscribe(changed)];
  }

  protected ready(signal: AbortSignal): Promise<unknown> {
    return Promise.all([this.#place.ready(signal), this.#trust.synced(signal)]);
  }

  protected async work(signal: AbortSignal): Promise<number> {
    const { leaf, bundle } = await this.#read();
    // Before the certificate: once it is served, its authority should be known.
    const isCurrent = bundle === undefined || this.#trust.isCurrent(bundle);
    if (!isCurrent) await this.#trust.spread(async () => (await this.#read()).bundle, signal);
    this.serve(leaf);
    // What was spread just now is seen in a moment, and looked at again.
    if (isCurrent) this.announce();
    return this.#place.lookEveryMs;
  }

  /** Gives both or neither: an authority beside a certificate that is not served may not be that of the one which is. */
  async #read(): Promise<{ readonly leaf: Leaf; readonly bundle: string | undefined }> {
    const { name } = this.#place;
    const { certificatePem, keyPem, bundlePem } = await this.#place.read();
    const leaf = readLeaf(name, certificatePem, keyPem);
    const problem = misfit(leaf, this.#names, this.#clock.now());
    if (problem !== undefined) {
      throw new BowlineError(
        'BOWLINE_WEBHOOK_CERTIFICATE',
        `cannot use the webhook certificate in ${name}: ${problem}; put one there that is valid now for ${this.#names.join(' and ')}, where the API server reaches the webhook`,
      );
    }
    const authorities = readAuthorities(bundlePem ?? '');
    const bundle = authorities.map((each) => each.certificatePem).join('');
    return { leaf, bundle: bundle === '' ? undefined : bundle };
  }
}
