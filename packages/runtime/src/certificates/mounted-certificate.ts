import { type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { OperatorId } from '../identity/operator-identity.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Metrics, noMetrics } from '../observability/metrics.ts';
import { folderLocation } from './certificate-locations.ts';
import { type CertificateTerms, certificateProfile } from './certificate-profile.ts';
import { type CertificateLocation, ExternalCertificates } from './external-certificates.ts';
import { CurrentIdentity, type TlsIdentity } from './tls-identity.ts';
import { noTrust, type Trust } from './trust.ts';

/** MountedCertificateOptions configures a certificate in a folder. */
export interface MountedCertificateOptions {
  readonly operator: OperatorId;
  /** Holds tls.crt, tls.key and ca.crt, for example a mounted Secret. */
  readonly folder: string;
  /** The names for which the certificate must be valid. Defaults to none. */
  readonly names?: readonly string[] | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics | undefined;
}

/**
 * MountedCertificate reads a certificate and the CAs to trust from a folder, and again when they change. An invalid or
 * expired certificate never replaces a valid one. It needs no API server.
 *
 * @example
 * const mounted = new MountedCertificate({ operator: { name: 'shops', domain: 'example.com' }, folder: '/tls' });
 */
export class MountedCertificate {
  readonly #options: MountedCertificateOptions;
  readonly #identity = new CurrentIdentity();
  #source: ExternalCertificates | undefined;

  constructor(options: MountedCertificateOptions) {
    this.#options = options;
  }

  /** The certificate, and the CAs to trust; undefined until they have been read. */
  get current(): TlsIdentity | undefined {
    return this.#identity.value;
  }

  /**
   * changes yields the certificate and the trusted CAs, and again when they have changed. It ends when the signal
   * is aborted.
   */
  changes(signal: AbortSignal): AsyncIterable<TlsIdentity> {
    return this.#identity.changes(signal);
  }

  /** ready resolves once the files have been read. It rejects when the signal is aborted. */
  ready(signal: AbortSignal): Promise<TlsIdentity> {
    return this.#identity.ready(signal);
  }

  /** problem returns why the files cannot be used at the moment, or undefined. */
  problem(): Error | undefined {
    return this.#source?.problem();
  }

  /** run reads the folder until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { operator, folder, names = [], log = silentLog, metrics = noMetrics } = this.#options;
    const { clock = systemClock, random = systemRandom } = this.#options;
    const profile = certificateProfile(operator);
    const location = withBundle(folderLocation(folder, profile), profile);
    let bundlePem = '';
    const trust: Trust = {
      ...noTrust,
      isCurrent: (bundle) => bundle === bundlePem,
      distribute: async (read) => {
        bundlePem = (await read()) ?? bundlePem;
        this.#identity.set(source.current, bundlePem);
      },
    };
    const source = new ExternalCertificates({ profile, location, names, trust, clock, random, log, metrics });
    source.subscribe((certificate) => this.#identity.set(certificate, bundlePem));
    this.#source = source;
    await source.run(signal);
  }
}

/** withBundle rejects a location without CAs to trust: no peer could be verified. */
function withBundle(location: CertificateLocation, { codes, noun }: CertificateTerms): CertificateLocation {
  return {
    ...location,
    async read() {
      const found = await location.read();
      if (found.bundlePem) return found;
      throw new BowlineError(
        codes.unusable,
        `cannot use the ${noun} in ${location.name}: ca.crt is missing; provide it`,
      );
    },
  };
}
