import type { Clock } from '@bowline/machinery';
import type { CertificateProfile } from './certificate-profile.ts';
import { MaintainedCertificate, type MaintainedCertificateOptions } from './maintained-certificate.ts';
import { type Leaf, readAuthorities, readUsableLeaf } from './pem.ts';
import type { Trust } from './trust.ts';

/** ExternalKeyPair is an externally provided certificate and key, as text. */
export interface ExternalKeyPair {
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** The CAs to trust; undefined if not provided. */
  readonly bundlePem: string | undefined;
}

/** CertificateLocation is where an externally managed certificate is stored. */
export interface CertificateLocation {
  /** The name for messages, such as `the folder /certs`. */
  readonly name: string;
  /** read returns the current content; throws if it cannot be read. */
  read(): Promise<ExternalKeyPair>;
  /** watch calls `changed` when the content may have changed. */
  watch(changed: () => void): Disposable;
  /** ready resolves once the location can be read. */
  ready(signal: AbortSignal): Promise<void>;
  /** The polling interval, in case a notification is missed. */
  readonly pollIntervalMs: number;
}

/**
 * ExternalCertificatesOptions configures the location of the certificate and who must trust its CA.
 */
export interface ExternalCertificatesOptions extends MaintainedCertificateOptions {
  readonly location: CertificateLocation;
  /** The names for which the certificate must be valid: host names and IP addresses. */
  readonly names: readonly string[];
  /** `noTrust` if another component, such as cert-manager's injector, publishes the CA. */
  readonly trust: Trust;
}

/**
 * ExternalCertificates serves a certificate that is issued and renewed externally. An invalid certificate, or one that
 * its peers would reject, never replaces a valid one.
 */
export class ExternalCertificates extends MaintainedCertificate {
  protected readonly maxRetryMs = 10_000;
  readonly #location: CertificateLocation;
  readonly #names: readonly string[];
  readonly #profile: CertificateProfile;
  readonly #clock: Clock;
  readonly #trust: Trust;

  constructor(options: ExternalCertificatesOptions) {
    super(options);
    this.#location = options.location;
    this.#names = options.names;
    this.#profile = options.profile;
    this.#clock = options.clock;
    this.#trust = options.trust;
  }

  protected watch(changed: () => void): readonly Disposable[] {
    return [this.#location.watch(changed), this.#trust.subscribe(changed)];
  }

  protected ready(signal: AbortSignal): Promise<unknown> {
    return Promise.all([this.#location.ready(signal), this.#trust.synced(signal)]);
  }

  protected async work(signal: AbortSignal): Promise<number> {
    const { leaf, bundle } = await this.#read();
    // Before the certificate: once it is served, its CA should be trusted.
    const isCurrent = bundle === undefined || this.#trust.isCurrent(bundle);
    if (!isCurrent) await this.#trust.distribute(async () => (await this.#read()).bundle, signal);
    this.serve(leaf);
    // A bundle written just now is observed in a moment, which triggers another check.
    if (isCurrent) this.announce();
    return this.#location.pollIntervalMs;
  }

  /** Returns both or neither: a CA next to a certificate that is not served may not be the CA of the served one. */
  async #read(): Promise<{ readonly leaf: Leaf; readonly bundle: string | undefined }> {
    const keyPair = await this.#location.read();
    const now = this.#clock.now();
    const leaf = readUsableLeaf(this.#location.name, keyPair, { names: this.#names, now, terms: this.#profile });
    const authorities = readAuthorities(keyPair.bundlePem ?? '');
    const bundle = authorities.map((each) => each.certificatePem).join('');
    return { leaf, bundle: bundle === '' ? undefined : bundle };
  }
}
