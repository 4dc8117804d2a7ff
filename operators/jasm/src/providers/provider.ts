import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { ProviderError } from './provider-error.ts';

/** SecretRef names one version of one secret of a store, and who asks for it. */
export interface SecretRef {
  /** In the provider's own format, as `ProviderKind.names` answers it first. */
  readonly path: string;
  readonly versionStage?: string | undefined;
  readonly versionId?: string | undefined;
  readonly region?: string | undefined;
  readonly role?: string | undefined;
  /** The namespace of the pods that ask: for consent, and for session tags. */
  readonly namespace: string;
}

/** SecretPayload is what a store holds: a text (JSON or anything), bytes, or values by key. */
export type SecretPayload =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'entries'; readonly entries: Readonly<Record<string, Uint8Array>> };

/** ExternalSecret is a secret as a store gave it, before it becomes the data of a Secret. Never log one. */
export interface ExternalSecret {
  readonly provider: string;
  readonly sourcePath: string;
  readonly payload: SecretPayload;
  /** How the store names this version. Undefined: it knows none. */
  readonly version: string | undefined;
}

/** Capabilities are what a store can do beside reading a secret. */
export interface Capabilities {
  /** `probeVersion` tells the current version without its value. */
  readonly versions: boolean;
  /** `fetchSecrets` reads several with one call. */
  readonly batch: boolean;
}

/**
 * SecretProvider reads secrets from a store. Each method makes one attempt and throws a ProviderError; who calls it has a
 * time limit, tries again and shares answers (sources/).
 */
export interface SecretProvider {
  readonly name: string;
  readonly capabilities: Capabilities;
  fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret>;
  /**
   * probeVersion answers the version that `fetchSecret` would read, or undefined where we may not ask for it or it does not tell.
   * One version never names two values, also when a secret was deleted and made anew: who has that version is not read again.
   */
  probeVersion?(ref: SecretRef, signal: AbortSignal): Promise<string | undefined>;
  /** fetchSecrets reads several that differ in path alone; the answers are in the order of the refs. */
  fetchSecrets?(refs: readonly SecretRef[], signal: AbortSignal): Promise<readonly (ExternalSecret | ProviderError)[]>;
}

/** ProviderContext is what a provider is made with. */
export interface ProviderContext<Config> {
  /** The provider's part of the operator's configuration. */
  readonly config: Config;
  /** The cluster, with the operator's rights. */
  readonly client: Client;
  /** The manager's namespace. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The environment, for credentials. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** observe counts one call to the store: `code` is `OK` or the error's. */
  readonly observe: (call: { readonly operation: string; readonly code: string; readonly ms: number }) => void;
  /** Aborted when the operator has stopped. */
  readonly signal: AbortSignal;
}

/** ProviderKind is a store that we can read: what is known of it without loading its code, and how it is loaded. */
export interface ProviderKind<Config = never> {
  readonly name: string;
  /** How a path looks, in a few words. For messages and the documentation. */
  readonly pathFormat: string;
  /**
   * names are all names by which policies may mean the secret of a path, the one to read it by first. It throws PathInvalid for
   * what is no path. Two paths of one secret must give the same first name, and no path may reach another secret than its names say.
   */
  names(path: string, config: Config): readonly [string, ...string[]];
  /**
   * dependsOnNamespace says whether a secret may look otherwise to pods of another namespace: where consent or an identity per
   * namespace decides. Answers are then not shared between namespaces. Defaults to never.
   */
  dependsOnNamespace?(ref: SecretRef, config: Config): boolean;
  /**
   * Whether there is a way to ask for a version without its value; see `SecretProvider.probeVersion`. After a restart, where there
   * is none, pods that are older than the content of their Secret are taken to have got it. Defaults to true.
   */
  readonly tellsVersions?: boolean | undefined;
  /** load is called once, when the provider is first asked for a secret. */
  load(context: ProviderContext<Config>): Promise<SecretProvider>;
}
