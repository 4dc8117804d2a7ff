/** ClientCertificate holds a certificate and its private key, both in PEM format. */
export interface ClientCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** RequestHeaders maps lower-case header names to values. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** RejectedCredentials holds the credentials of a request that failed with 401. */
export interface RejectedCredentials {
  readonly headers: RequestHeaders;
  readonly certificatePem: string | undefined;
}

/**
 * Credentials authenticate requests. They are consulted for every request and every new connection, so that rotating
 * credentials (token files, exec plugins, certificate files) take effect without a restart.
 */
export interface Credentials {
  /**
   * headers returns the headers to add to a request. It returns synchronously unless credentials have to be read or
   * renewed first.
   */
  headers(): RequestHeaders | Promise<RequestHeaders>;
  /** certificate returns the client certificate for a new connection. Absent if these credentials never use one. */
  certificate?(): Promise<ClientCertificate | undefined>;
  /**
   * refresh is called after the server responded with 401 to the credentials in `rejected`. It renews the credentials
   * unless they have been renewed in the meantime, and resolves to whether they differ now: only then is a retry
   * useful.
   */
  refresh(rejected: RejectedCredentials): Promise<boolean>;
}

/** Impersonation is the identity to impersonate. The authenticated user needs the `impersonate` permission. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** ConnectionConfig configures the address, the trust and the credentials of a connection to an API server. */
export interface ConnectionConfig {
  /** The server's URL, `https://host:port` or `http://host:port`. A path is prepended to every request path. */
  readonly server: string;
  /**
   * The CA certificates to verify the server's certificate with, in PEM format. A function is called for each new
   * connection, so that files can rotate. Defaults to the CAs that Node trusts.
   */
  readonly ca?: string | (() => Promise<string | undefined>) | undefined;
  /** The host name to verify the server's certificate against. Defaults to the host in `server`. */
  readonly serverName?: string | undefined;
  /** Accepts any server certificate. Defaults to false. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** An `http://` or `https://` proxy to CONNECT through. Defaults to a direct connection. */
  readonly proxyUrl?: string | undefined;
  /** Defaults to none. */
  readonly credentials?: Credentials | undefined;
  /** Defaults to no impersonation. */
  readonly impersonate?: Impersonation | undefined;
  /** The namespace of the context or pod. It does not affect requests; callers may use it as their default. */
  readonly namespace?: string | undefined;
  /**
   * The origin of this configuration for messages, such as `context "x" of /path/config`. Defaults to the server's URL.
   */
  readonly source?: string | undefined;
}
