/** TlsMaterial is a certificate chain with its private key, both PEM. Never log it. */
export interface TlsMaterial {
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Identifies the certificate; safe to log. */
  readonly fingerprint: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly notAfter: number;
}

/** CertificateSource is where the server's certificate comes from. */
export interface CertificateSource {
  /** run keeps the certificate current until the signal is aborted; settles when it has stopped. */
  run(signal: AbortSignal): Promise<void>;
  /** current is the certificate to serve; undefined until there is one. */
  readonly current: TlsMaterial | undefined;
  /** subscribe is told of every certificate to serve from now on. */
  subscribe(listener: (certificate: TlsMaterial) => void): Disposable;
  /** announced resolves once there is a certificate and every configuration that is kept here makes its authority known. */
  readonly announced: Promise<void>;
  /** problem is why the certificate cannot be kept current at the moment; undefined when all is well. */
  problem(): Error | undefined;
}
