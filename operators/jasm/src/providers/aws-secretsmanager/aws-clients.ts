import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { Clock } from '@bowline/machinery';
import type { ProviderContext, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { CredentialsError, PROVIDER } from './aws-errors.ts';
import type { AwsConfig } from './config.ts';
import { observeCall } from './observe-call.ts';

/** AwsContext is the part of its context that the provider needs. */
export type AwsContext = Pick<ProviderContext<AwsConfig>, 'config' | 'env' | 'clock' | 'observe' | 'signal'>;

/** Identity holds the role and the region that a secret is read with. */
export interface Identity {
  readonly region: string | undefined;
  readonly role: string | undefined;
  /** The namespace that the session is tagged with. */
  readonly namespace: string | undefined;
}

type CredentialProvider = ReturnType<typeof fromNodeProviderChain>;

/** Clients hold credentials; recreating one costs one call to STS. */
const MAX_CLIENTS = 256;
/** Further calls wait for a free socket. */
const MAX_SOCKETS = 32;
const CONNECT_LIMIT_MS = 10_000;
/**
 * Frees the socket of a call that no caller waits for any more; callers have a time limit of their own, on the
 * operator's clock.
 */
const IDLE_LIMIT_MS = 60_000;
/**
 * Getting credentials may not take longer than a read: the SDK makes all callers wait for the same answer, without a
 * limit.
 */
const CREDENTIALS_LIMIT_MS = 30_000;
const SESSION_NAME_LENGTH = 64;

/** SILENT_LOGGER keeps the SDK from writing to the console; errors are thrown. */
const SILENT_LOGGER = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** AwsClients creates and keeps one client per identity. They share their connections. */
export class AwsClients {
  readonly #context: AwsContext;
  readonly #agents: { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent };
  readonly #ownCredentials: CredentialProvider;
  /** The most recently used comes last. */
  readonly #clients = new Map<string, SecretsManagerClient>();

  constructor(context: AwsContext) {
    // The SDK prints a warning on Node 20 to the console, once. Decision 019 covers its subject, and users of the
    // operator cannot act on it. There is no other switch.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    this.#context = context;
    const sockets = { keepAlive: true, maxSockets: MAX_SOCKETS, maxTotalSockets: MAX_SOCKETS };
    this.#agents = {
      httpAgent: new HttpAgent(sockets),
      httpsAgent: new HttpsAgent({ ...sockets, ca: authorities(context.env.AWS_CA_BUNDLE) }),
    };
    this.#ownCredentials = withCredentialsError(
      undefined,
      fromNodeProviderChain({ logger: SILENT_LOGGER }),
      context.clock,
    );
    context.signal.addEventListener('abort', () => this.#close(), { once: true });
  }

  /** identityOf returns the role and the region that a secret is read with. */
  identityOf(ref: SecretRef): Identity {
    const { config } = this.#context;
    const role = ref.role ?? config.role;
    return {
      region: ref.region ?? config.region,
      role,
      namespace: role !== undefined && config.sessionTags ? ref.namespace : undefined,
    };
  }

  /** clientFor returns the client of an identity. */
  clientFor(identity: Identity): SecretsManagerClient {
    const key = JSON.stringify(identity);
    const client = this.#clients.get(key) ?? this.#newClient(identity);
    this.#clients.delete(key);
    this.#clients.set(key, client);
    // Not destroyed: that would close the connections of all clients.
    for (const oldest of this.#clients.keys()) {
      if (this.#clients.size <= MAX_CLIENTS) break;
      this.#clients.delete(oldest);
    }
    return client;
  }

  #newClient({ region, role, namespace }: Identity): SecretsManagerClient {
    const { endpoint } = this.#context.config;
    return new SecretsManagerClient({
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
      credentials: role === undefined ? this.#ownCredentials : this.#credentialsOf(role, region, namespace),
      // The caller retries, and knows when to stop.
      maxAttempts: 1,
      logger: SILENT_LOGGER,
      requestHandler: {
        ...this.#agents,
        connectionTimeout: CONNECT_LIMIT_MS,
        socketTimeout: IDLE_LIMIT_MS,
        logger: SILENT_LOGGER,
      },
    });
  }

  #credentialsOf(role: string, region: string | undefined, namespace: string | undefined): CredentialProvider {
    const { externalId } = this.#context.config;
    const sessionName = namespace === undefined ? 'bowline-jasm' : `jasm-${namespace}`;
    const assume = fromTemporaryCredentials({
      masterCredentials: this.#ownCredentials,
      logger: SILENT_LOGGER,
      params: {
        RoleArn: role,
        RoleSessionName: sessionName.slice(0, SESSION_NAME_LENGTH),
        ...(externalId === undefined ? {} : { ExternalId: externalId }),
        ...(namespace === undefined ? {} : { Tags: [{ Key: 'jasm-namespace', Value: namespace }] }),
      },
      clientConfig: { maxAttempts: 1, ...(region === undefined ? {} : { region }) },
    });
    const { clock } = this.#context;
    return withCredentialsError(
      role,
      (properties) => observeCall(this.#context, 'AssumeRole', () => assume(properties)),
      clock,
    );
  }

  #close(): void {
    this.#clients.clear();
    this.#agents.httpAgent.destroy();
    this.#agents.httpsAgent.destroy();
  }
}

/** Returns the certificate authorities in a file, which replace those that Node trusts. Undefined if no file is set. */
function authorities(file: string | undefined): Buffer | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'Unreadable';
    throw new ProviderError(
      `cannot read the file ${file} that AWS_CA_BUNDLE names (${code}); mount it, or unset the variable`,
      {
        kind: 'refused',
        provider: PROVIDER,
        operation: 'load',
        code,
      },
    );
  }
}

/**
 * withCredentialsError marks a failure to get credentials, to distinguish it from a failure of the store, and ends a
 * call that takes too long.
 */
function withCredentialsError(
  role: string | undefined,
  provider: CredentialProvider,
  clock: Clock,
): CredentialProvider {
  return async (properties) => {
    try {
      return await withLimit(() => provider(properties), clock);
    } catch (error) {
      // The credentials of the operator itself may be what assuming a role lacks.
      throw error instanceof CredentialsError ? error : new CredentialsError(role, error);
    }
  };
}

function withLimit<T>(call: () => Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeoutError = Object.assign(new Error('no credentials in time'), { name: 'TimeoutError' });
    const limit = clock.setTimer(CREDENTIALS_LIMIT_MS, () => reject(timeoutError));
    call()
      .then(resolve, reject)
      .finally(() => limit.cancel());
  });
}
