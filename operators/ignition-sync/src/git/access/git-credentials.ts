/** GitCredentials authenticate at the origin of one repository. */
export type GitCredentials =
  | { readonly type: 'none' }
  /** HTTP basic authentication; also with an installation token of a GitHub App. */
  | {
      readonly type: 'token';
      readonly token: string;
      /** Defaults to `x-access-token`, which Git servers accept next to a token. */
      readonly username?: string | undefined;
    }
  | {
      readonly type: 'ssh';
      /** In a format that OpenSSH reads, without a passphrase. */
      readonly privateKey: string;
      /** Lines of a known_hosts file. Undefined: the first key that the host presents is trusted, and returned to be pinned. */
      readonly knownHosts: string | undefined;
    };

/** GitProxy is an HTTP proxy. SSH does not use it. */
export interface GitProxy {
  /** The address of the proxy, such as `http://proxy:3128`. */
  readonly https: string;
  /** Hosts to connect to directly, separated by commas. Defaults to none. */
  readonly no?: string | undefined;
}
