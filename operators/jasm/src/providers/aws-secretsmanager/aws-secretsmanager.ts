import {
  BatchGetSecretValueCommand,
  type BatchGetSecretValueResponse,
  DescribeSecretCommand,
  GetSecretValueCommand,
  type SecretsManagerClient,
  type SecretValueEntry,
} from '@aws-sdk/client-secrets-manager';
import { DeniedCalls } from '../denied-calls.ts';
import type { Capabilities, ExternalSecret, SecretPayload, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { AwsClients, type AwsContext } from './aws-clients.ts';
import { type AwsCall, awsError, isDenied, itemError, listRefusal, PROVIDER } from './aws-errors.ts';
import { observeCall } from './observe-call.ts';
import { regionOf } from './secret-id.ts';

/** The version stage that is read unless the annotation names a version. */
const CURRENT = 'AWSCURRENT';

/** How long a denied permission to describe secrets or to read several at once is remembered. */
const DENIAL_REMEMBERED_MS = 3_600_000;

/**
 * AwsSecretsManager reads from AWS Secrets Manager. The SDK finds the credentials: in the environment, a web identity
 * (IRSA), EKS Pod Identity and containers, instances, profiles. Roles are assumed with those.
 */
export class AwsSecretsManager implements SecretProvider {
  readonly name: string = PROVIDER;
  readonly capabilities: Capabilities = { versions: true, batch: true };
  readonly #context: AwsContext;
  readonly #clients: AwsClients;
  readonly #denied: DeniedCalls;

  constructor(context: AwsContext) {
    this.#context = context;
    this.#clients = new AwsClients(context);
    this.#denied = new DeniedCalls(context.clock, DENIAL_REMEMBERED_MS);
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const call: AwsCall = { operation: 'GetSecretValue', secret: nameOf(ref) };
    const { path: SecretId, versionId: VersionId, versionStage: VersionStage } = ref;
    const command = new GetSecretValueCommand({ SecretId, VersionId, VersionStage });
    try {
      const client = await this.#clientFor(ref);
      const value = await this.#send(call, signal, () => client.send(command, { abortSignal: signal }));
      const secret = secretFrom(ref, value);
      if (secret) return secret;
    } catch (error) {
      throw failure(error, call, signal);
    }
    throw awsError({ name: 'ResourceNotFoundException', message: 'no value for the staging label' }, call);
  }

  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const call: AwsCall = { operation: 'DescribeSecret', secret: nameOf(ref) };
    const source = JSON.stringify([call.operation, this.#clients.identityOf(ref), ref.path]);
    if (this.#denied.has(source)) return undefined;
    const command = new DescribeSecretCommand({ SecretId: ref.path });
    try {
      const client = await this.#clientFor(ref);
      const secret = await this.#send(call, signal, () => client.send(command, { abortSignal: signal }));
      // The response also includes secrets that are scheduled for deletion, which cannot be read any more.
      return secret.DeletedDate ? undefined : versionIn(secret.VersionIdsToStages ?? {}, ref);
    } catch (error) {
      if (!isDenied(error)) throw failure(error, call, signal);
      this.#denied.add(source);
      return undefined;
    }
  }

  async fetchSecrets(
    refs: readonly SecretRef[],
    signal: AbortSignal,
  ): Promise<readonly (ExternalSecret | ProviderError)[]> {
    const [first] = refs;
    if (!first) return [];
    const call: AwsCall = { operation: 'BatchGetSecretValue', secret: `${refs.length} secrets` };
    const source = JSON.stringify([call.operation, this.#clients.identityOf(first)]);
    // A batch cannot select versions.
    const isCurrent = first.versionId === undefined && (first.versionStage ?? CURRENT) === CURRENT;
    if (!isCurrent || this.#denied.has(source)) return await this.#fetchEach(refs, signal);
    try {
      const client = this.#clients.clientFor(this.#clients.identityOf(first));
      const region = await client.config.region();
      // An ARN of another region is refused below, without affecting the others.
      const paths = refs.map(({ path }) => path).filter((path) => (regionOf(path) ?? region) === region);
      if (paths.length < 2) return await this.#fetchEach(refs, signal);
      const command = new BatchGetSecretValueCommand({ SecretIdList: paths });
      const batch = await this.#send(call, signal, () => client.send(command, { abortSignal: signal }));
      const values = valuesIn(batch, refs);
      const resultFor = async (ref: SecretRef): Promise<ExternalSecret | ProviderError> => {
        const value = values.get(ref);
        return (value && secretFrom(ref, value)) ?? errorIn(batch, ref) ?? (await this.#fetchOne(ref, signal));
      };
      return await Promise.all(refs.map(resultFor));
    } catch (error) {
      const refusal = listRefusal(error);
      if (refusal === undefined) throw failure(error, call, signal);
      if (refusal === 'call') this.#denied.add(source);
      return await this.#fetchEach(refs, signal);
    }
  }

  #fetchEach(refs: readonly SecretRef[], signal: AbortSignal): Promise<readonly (ExternalSecret | ProviderError)[]> {
    return Promise.all(refs.map((ref) => this.#fetchOne(ref, signal)));
  }

  async #fetchOne(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret | ProviderError> {
    try {
      return await this.fetchSecret(ref, signal);
    } catch (error) {
      if (error instanceof ProviderError) return error;
      throw error;
    }
  }

  /** An ARN names one region, and must not give access to a region that is not permitted. */
  async #clientFor(ref: SecretRef): Promise<SecretsManagerClient> {
    const client = this.#clients.clientFor(this.#clients.identityOf(ref));
    const [own, region] = [regionOf(ref.path), await client.config.region()];
    if (own !== undefined && own !== region) throw otherRegion(ref, own, region);
    return client;
  }

  async #send<T>({ operation }: AwsCall, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    return await observeCall(this.#context, operation, send, signal);
  }
}

function failure(error: unknown, call: AwsCall, signal: AbortSignal): unknown {
  if (error instanceof ProviderError) return error;
  return signal.aborted ? signal.reason : awsError(error, call);
}

function otherRegion(ref: SecretRef, own: string, region: string): ProviderError {
  const explanation = `GetSecretValue of ${nameOf(ref)}: the ARN is in region ${own}, but the secret would be read in region ${region}; set region: ${own} in the annotation`;
  return new ProviderError(explanation, {
    kind: 'refused',
    provider: PROVIDER,
    operation: 'GetSecretValue',
    code: 'OtherRegion',
  });
}

/** nameOf returns the name of a secret for messages. */
function nameOf({ path, versionId, versionStage }: SecretRef): string {
  const version = versionId ?? versionStage;
  return version === undefined ? path : `${path} (${version})`;
}

function versionIn(versions: Readonly<Record<string, readonly string[]>>, ref: SecretRef): string | undefined {
  const { versionId, versionStage = CURRENT } = ref;
  // Versions without a label are not listed; only reading shows whether they still exist.
  if (versionId !== undefined) return Object.hasOwn(versions, versionId) ? versionId : undefined;
  return Object.keys(versions).find((id) => versions[id]?.includes(versionStage));
}

function secretFrom(ref: SecretRef, value: SecretValueEntry): ExternalSecret | undefined {
  const { SecretString: text, SecretBinary: bytes, VersionId: version } = value;
  const payload: SecretPayload | undefined =
    text !== undefined ? { kind: 'text', text } : bytes && { kind: 'bytes', bytes };
  return payload && { provider: PROVIDER, sourcePath: ref.path, payload, version };
}

/**
 * valuesIn assigns the values of a response to the refs. ARNs are matched first: another account may have a secret of
 * the same name, and a ref by name means the one in our account. A ref without an unambiguous value is omitted, and
 * read alone.
 */
function valuesIn(
  { SecretValues: values = [] }: BatchGetSecretValueResponse,
  refs: readonly SecretRef[],
): ReadonlyMap<SecretRef, SecretValueEntry> {
  const found = new Map<SecretRef, SecretValueEntry>();
  const byArn = refs.filter(({ path }) => regionOf(path) !== undefined);
  for (const ref of byArn) {
    // An ARN may be written without the suffix that AWS appends.
    const value =
      values.find(({ ARN }) => ARN === ref.path) ?? onlyOne(values.filter(({ ARN }) => ARN?.slice(0, -7) === ref.path));
    if (value) found.set(ref, value);
  }
  const matchedArns = new Set([...found.values()].map(({ ARN }) => ARN));
  for (const ref of refs) {
    if (byArn.includes(ref)) continue;
    const value = onlyOne(values.filter(({ Name, ARN }) => Name === ref.path && !matchedArns.has(ARN)));
    if (value) found.set(ref, value);
  }
  return found;
}

/** Returns the first of the values if all belong to one secret. */
function onlyOne(values: readonly SecretValueEntry[]): SecretValueEntry | undefined {
  const [first] = values;
  return values.every(({ ARN }) => ARN === first?.ARN) ? first : undefined;
}

function errorIn({ Errors = [] }: BatchGetSecretValueResponse, ref: SecretRef): ProviderError | undefined {
  const error = Errors.find(({ SecretId }) => SecretId === ref.path);
  const call: AwsCall = { operation: 'GetSecretValue', secret: nameOf(ref) };
  return error && itemError(error, call);
}
