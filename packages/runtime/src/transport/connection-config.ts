/** ClientCertificate is a certificate and its key, both PEM. */
export interface ClientCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** RequestHeaders are headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** RejectedCredentials is what a request carried that the server answered with 401. */
export interface RejectedCredentials {
  readonly headers: RequestHeaders;
  readonly certificatePem: string | undefined;
}

/**
 * Credentials prove who asks. They are consulted for every request and every new connection, so that what rotates
 * (token files, exec plugins, certificate files) needs no restart.
 */
export interface Credentials {
  /** headers are what a request carries. Answers at once unless something has to be read or renewed first. */
  headers(): RequestHeaders | Promise<RequestHeaders>;
  /** certificate is what a new connection presents; absent when this kind of credential never has one. */
  certificate?(): Promise<ClientCertificate | undefined>;
  /**
   * refresh is called after the server answered 401 to what `rejected` says was sent. It renews unless that has happened
   * meanwhile, and answers whether the credentials are different now: only then does one more attempt make sense.
   */
  refresh(rejected: RejectedCredentials): Promise<boolean>;
}

/** Impersonation is the identity a request takes on; the real one needs the `impersonate` permission. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** ConnectionConfig says where an API server is, how to trust it and who asks. */
export interface ConnectionConfig {
  /** The server's URL, `https://host:port` or `http://host:port`; a path stands before every request's path. */
  readonly server: string;
  /**
   * Certificates of the authorities that may have signed the server's certificate, PEM. A function is called for each new
   * connection, for files that rotate. Defaults to the authorities that Node trusts.
   */
  readonly ca?: string | (() => Promise<string | undefined>) | undefined;
  /** The name the server's certificate must carry. Defaults to the host in `server`. */
  readonly serverName?: string | undefined;
  /** Accept any server certificate. Defaults to false. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** An `http://` or `https://` proxy that is asked to CONNECT. Defaults to a direct connection. */
  readonly proxyUrl?: string | undefined;
  /** Defaults to none. */
  readonly credentials?: Credentials | undefined;
  /** Defaults to nobody else. */
  readonly impersonate?: Impersonation | undefined;
  /** The namespace that the context or the pod names. It changes no request; callers may use it as their default. */
  readonly namespace?: string | undefined;
  /** Where this came from, as messages name it: `context "x" of /path/config`. Defaults to the server's URL. */
  readonly source?: string | undefined;
}
