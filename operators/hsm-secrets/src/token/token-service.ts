import type { TokenInfo } from './token.ts';

/** SecretData holds the values of a secret by key. */
export type SecretData = Readonly<Record<string, Buffer>>;

/** SecretMetadata describes a secret on a token. */
export interface SecretMetadata {
  /** 0 for a secret that another system wrote without a version. */
  readonly version: number;
  /** When this version was written, RFC 3339. */
  readonly timestamp: string | undefined;
  /** Whether this is the record of a deletion (a tombstone). */
  readonly isDeleted: boolean;
  readonly description: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly format: string | undefined;
  readonly dataType: string | undefined;
  readonly createdAt: string | undefined;
  readonly source: string | undefined;
}

/** MetadataInput is the part of the metadata that a writer chooses. */
export interface MetadataInput {
  readonly description?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly format?: string | undefined;
  readonly dataType?: string | undefined;
  readonly source?: string | undefined;
}

/** StoredSecret is a secret with its metadata. A tombstone has no data. */
export interface StoredSecret {
  readonly data: SecretData;
  readonly metadata: SecretMetadata;
  /** See `checksumOf`. */
  readonly checksum: string;
}

/** SecretSummary describes a secret, or the tombstone of one, without its values. */
export interface SecretSummary {
  readonly path: string;
  readonly version: number;
  readonly timestamp: string | undefined;
  readonly isDeleted: boolean;
  /** Undefined for a tombstone. */
  readonly checksum: string | undefined;
  readonly keys: readonly string[];
}

/** WriteOptions guards and stamps a write. */
export interface WriteOptions {
  /** The version to replace; 0 if there must be no secret. Undefined: any. A tombstone counts with its version. */
  readonly replaces?: number | undefined;
  /** The version of the new content. Defaults to one more than that of the old. Mirroring gives it. */
  readonly version?: number | undefined;
  /** When it was written, RFC 3339. Defaults to now. Mirroring gives it. */
  readonly timestamp?: string | undefined;
}

/** TokenStatus describes a token, and whether it can be used. */
export interface TokenStatus {
  /** Undefined as long as no token could be chosen. */
  readonly token: TokenInfo | undefined;
  readonly isLoggedIn: boolean;
  /** Why the token cannot be used; undefined if it can. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
  /** Whether it is a software token of the simulation. */
  readonly isSimulated: boolean;
}

/**
 * TokenService is what an agent does with its token. The worker process implements it for PKCS#11, and the simulation
 * for a software token. Its methods reject with a TokenError.
 */
export interface TokenService {
  /** status logs in if that is allowed, and never rejects because of the token. */
  status(signal?: AbortSignal): Promise<TokenStatus>;
  /** read rejects with NotFound for a secret that does not exist or was deleted. */
  read(path: string, signal?: AbortSignal): Promise<StoredSecret>;
  write(
    path: string,
    data: SecretData,
    metadata: MetadataInput,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<SecretSummary>;
  /** remove deletes a secret, or one key of it, and leaves a tombstone for a whole secret. */
  remove(path: string, key: string | undefined, options?: WriteOptions, signal?: AbortSignal): Promise<SecretSummary>;
  /** purge removes the tombstone of a path, if it has this version. */
  purge(path: string, version: number, signal?: AbortSignal): Promise<void>;
  metadata(path: string, signal?: AbortSignal): Promise<SecretMetadata>;
  /** list returns all secrets and tombstones whose path is the prefix, or below it. An empty prefix is everything. */
  list(prefix: string, signal?: AbortSignal): Promise<readonly SecretSummary[]>;
  /** changePin sets a new PIN on the token. */
  changePin(newPin: Buffer, signal?: AbortSignal): Promise<void>;
  /** retryPin tries the current PIN once, although the flags or an earlier refusal advise against it. */
  retryPin(signal?: AbortSignal): Promise<TokenStatus>;
  /**
   * provePin returns an HMAC (SHA-256) of a nonce with the mounted PIN as key, so that the manager can tell whether the
   * agent has the current one.
   */
  provePin(nonce: Buffer, signal?: AbortSignal): Promise<Buffer>;
}
