import { KeptCertificate, type KeptCertificateOptions } from './kept-certificate.ts';
import { readAuthorities, readLeaf } from './pem.ts';
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
  /** `noTrust` when somebody else, such as cert-manager's injector, makes the authority known. */
  readonly trust: Trust;
}

/** GivenCertificates serves a certificate that somebody else issues and renews. A broken one never replaces a good one. */
export class GivenCertificates extends KeptCertificate {
  protected readonly longestRetryMs = 10_000;
  readonly #place: GivenPlace;
  readonly #trust: Trust;

  constructor(options: GivenCertificatesOptions) {
    super(options);
    this.#place = options.place;
    this.#trust = options.trust;
  }

  protected watch(changed: () => void): readonly Disposable[] {
    return [this.#place.watch(changed), this.#trust.subscribe(changed)];
  }

  protected ready(signal: AbortSignal): Promise<unknown> {
    return Promise.all([this.#place.ready(signal), this.#trust.synced(signal)]);
  }

  protected async work(signal: AbortSignal): Promise<number> {
    const pair = await this.#place.read();
    const bundle = bundleFrom(pair);
    // Before the certificate: once it is served, its authority should be known.
    const isCurrent = bundle === undefined || this.#trust.isCurrent(bundle);
    if (!isCurrent) await this.#trust.spread(async () => bundleFrom(await this.#place.read()), signal);
    this.serve(readLeaf(this.#place.name, pair.certificatePem, pair.keyPem));
    // What was spread just now is seen in a moment, and looked at again.
    if (isCurrent) this.announce();
    return this.#place.lookEveryMs;
  }
}

function bundleFrom({ bundlePem }: GivenPair): string | undefined {
  const authorities = readAuthorities(bundlePem ?? '');
  return authorities.length > 0 ? authorities.map(({ certificatePem }) => certificatePem).join('') : undefined;
}
