import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { ProviderError } from './provider-error.ts';

/** SecretRef identifies one version of one secret of a store, and its requester. */
export interface SecretRef {
  /** In the provider's own format: the first name that `ProviderKind.names` returns. */
  readonly path: string;
  readonly versionStage?: string | undefined;
  readonly versionId?: string | undefined;
  readonly region?: string | undefined;
  readonly role?: string | undefined;
  /** The namespace of the requesting pods: for consent, and for session tags. */
  readonly namespace: string;
}

/** SecretPayload is the content of a secret: a text (JSON or anything), bytes, or values by key. */
export type SecretPayload =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'entries'; readonly entries: Readonly<Record<string, Uint8Array>> };

/** ExternalSecret is a secret as returned by a store, before it becomes the data of a Secret. Never log one. */
export interface ExternalSecret {
  readonly provider: string;
  readonly sourcePath: string;
  readonly payload: SecretPayload;
  /** The store's name of this version. Undefined if the store has no versions. */
  readonly version: string | undefined;
}

/** Capabilities describes what a store supports besides reading a secret. */
export interface Capabilities {
  /** `probeVersion` returns the current version without its value. */
  readonly versions: boolean;
  /** `fetchSecrets` reads several secrets with one call. */
  readonly batch: boolean;
}

/**
 * SecretProvider reads secrets from a store. Each method makes one attempt and throws a ProviderError; the caller sets
 * a time limit, retries and shares answers (sources/).
 */
export interface SecretProvider {
  readonly name: string;
  readonly capabilities: Capabilities;
  fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret>;
  /**
   * probeVersion returns the version that `fetchSecret` would read, or undefined if we may not request it or the store
   * does not report it. A version never identifies two values, even if a secret was deleted and recreated: a Secret
   * that has the version is not read again.
   */
  probeVersion?(ref: SecretRef, signal: AbortSignal): Promise<string | undefined>;
  /** fetchSecrets reads several secrets that differ only in path; the results are in the order of the refs. */
  fetchSecrets?(refs: readonly SecretRef[], signal: AbortSignal): Promise<readonly (ExternalSecret | ProviderError)[]>;
}

/** ProviderContext holds what a provider is created with. */
export interface ProviderContext<Config> {
  /** The provider's part of the operator's configuration. */
  readonly config: Config;
  /** A client for the cluster, with the operator's permissions. */
  readonly client: Client;
  /** The manager's namespace. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The environment, for credentials. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** observe counts one call to the store: `code` is `OK` or the code of the error. */
  readonly observe: (call: { readonly operation: string; readonly code: string; readonly ms: number }) => void;
  /** Aborted when the operator has stopped. */
  readonly signal: AbortSignal;
}

/** ProviderKind describes a store that can be read: what is known without loading its code, and how to load it. */
export interface ProviderKind<Config = never> {
  readonly name: string;
  /** The format of a path, in a few words. For messages and the documentation. */
  readonly pathFormat: string;
  /**
   * names returns all names by which policies may refer to the secret of a path, first the one to read it by. It throws
   * PathInvalid for an invalid path. Two paths of one secret must return the same first name, and no path may reach a
   * secret other than the one its names identify.
   */
  names(path: string, config: Config): readonly [string, ...string[]];
  /**
   * dependsOnNamespace reports whether a secret may differ for pods of another namespace, because consent or an
   * identity per namespace decides. Answers are then not shared between namespaces. Defaults to never.
   */
  dependsOnNamespace?(ref: SecretRef, config: Config): boolean;
  /**
   * Whether a version can be requested without its value; see `SecretProvider.probeVersion`. If not, then after a
   * restart, pods that are older than the content of their Secret are assumed to have received it. Defaults to true.
   */
  readonly canProbeVersion?: boolean | undefined;
  /** load is called once, when a secret is first requested from the provider. */
  load(context: ProviderContext<Config>): Promise<SecretProvider>;
}
