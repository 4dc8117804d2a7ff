/** TlsMaterial is a certificate chain with its private key, both in PEM format. Never log it. */
export interface TlsMaterial {
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Identifies the certificate; safe to log. */
  readonly fingerprint: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly notAfter: number;
}

/** CertificateSource provides the server's certificate. */
export interface CertificateSource {
  /** run keeps the certificate current until the signal is aborted; resolves when it has stopped. */
  run(signal: AbortSignal): Promise<void>;
  /** The certificate to serve; undefined until there is one. */
  readonly current: TlsMaterial | undefined;
  /** subscribe calls the listener with every new certificate to serve. */
  subscribe(listener: (certificate: TlsMaterial) => void): Disposable;
  /** Resolves once there is a certificate and every configuration managed here contains its CA. */
  readonly announced: Promise<void>;
  /** problem returns why the certificate cannot be kept current at the moment, or undefined. */
  problem(): Error | undefined;
}
