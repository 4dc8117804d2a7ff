import { createHash } from 'node:crypto';
import { type Glob, glob } from '@bowline/machinery';
import { SignatureProblem, type Signer, type SigningKey, verifySignature } from './fake-aws-signature.test-support.ts';
import { FakeSts } from './fake-aws-sts.test-support.ts';
import { FakeHttp, type FakeRequest, type FakeResponse } from './fake-http.test-support.ts';

/** FakeAwsCall is a call to Secrets Manager, without values. */
export interface FakeAwsCall {
  readonly operation: string;
  /** The requested ids. */
  readonly secrets: readonly string[];
  readonly region: string;
  /** Undefined: the operator's own key. */
  readonly role: string | undefined;
  readonly sessionTags: Readonly<Record<string, string>>;
}

type Value = { readonly SecretString: string } | { readonly SecretBinary: Uint8Array };

interface Secret {
  readonly arn: string;
  readonly name: string;
  readonly versions: Map<string, { readonly value: Value; readonly stages: Set<string> }>;
  isDeleted: boolean;
}

interface Denial {
  readonly operation: string;
  readonly secret: Glob;
  readonly unless: ((call: FakeAwsCall) => boolean) | undefined;
}

/** A request in the AWS JSON protocol. */
type Input = Readonly<Record<string, string>> & { readonly SecretIdList?: readonly string[] };

const ACCOUNT = '123456789012';
const REGION = 'eu-central-1';

class Refusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * FakeAws implements the part of AWS that we use: Secrets Manager (JSON 1.1) and STS (query), at one address, as with
 * AWS_ENDPOINT_URL. It verifies the signature of every request.
 */
export class FakeAws implements AsyncDisposable {
  readonly http: FakeHttp;
  readonly sts = new FakeSts();
  /** The operator's own key. */
  readonly key = { accessKeyId: 'AKIAFAKEOPERATOR0001', secretAccessKey: 'fake-secret-access-key-of-the-operator' };
  readonly calls: FakeAwsCall[] = [];
  /** How far its clock is ahead of the machine's. */
  aheadMs = 0;
  readonly #secrets = new Map<string, Secret>();
  readonly #denials: Denial[] = [];
  readonly #failures: { readonly operation: string; readonly code: string; readonly status: number }[] = [];
  #made = 0;

  private constructor(http: FakeHttp) {
    this.http = http;
  }

  static async start(): Promise<FakeAws> {
    const fake: FakeAws = new FakeAws(await FakeHttp.start((request) => fake.#answer(request)));
    return fake;
  }

  /** environment returns the variables that a process needs to use it, and no other AWS. */
  get environment(): Readonly<Record<string, string>> {
    return {
      AWS_ENDPOINT_URL: this.http.url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: this.key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: this.key.secretAccessKey,
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
  }

  /** made returns the calls to Secrets Manager, for instance `GetSecretValue prod/db`. */
  get made(): readonly string[] {
    return this.calls.map(({ operation, secrets }) => `${operation} ${secrets.join(' ')}`);
  }

  /** put creates a version of a secret, the current one, and returns its id. */
  put(name: string, value: string | object | Uint8Array, region: string = REGION): string {
    return this.#putVersion(this.#secrets.get(`${region}/${name}`) ?? this.create(name, region), value);
  }

  /** putElsewhere creates a secret of another account, which allows ours to read it by its ARN, and returns the ARN. */
  putElsewhere(name: string, value: string | object): string {
    const arn = `arn:aws:secretsmanager:${REGION}:222222222222:secret:${name}-AbCdEf`;
    const secret: Secret = { arn, name, versions: new Map(), isDeleted: false };
    this.#secrets.set(`${REGION}/${arn}`, secret);
    this.#putVersion(secret, value);
    return arn;
  }

  #putVersion(secret: Secret, value: string | object | Uint8Array): string {
    const id = `00000000-0000-4000-8000-${String(++this.#made).padStart(12, '0')}`;
    for (const [other, { stages }] of secret.versions) {
      stages.delete('AWSPREVIOUS');
      if (stages.delete('AWSCURRENT')) secret.versions.get(other)?.stages.add('AWSPREVIOUS');
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const held: Value = value instanceof Uint8Array ? { SecretBinary: value } : { SecretString: text };
    secret.versions.set(id, { value: held, stages: new Set(['AWSCURRENT']) });
    return id;
  }

  /** create creates a secret without a value. */
  create(name: string, region: string = REGION): { readonly arn: string } & Secret {
    const suffix = createHash('sha256')
      .update(`${region}/${name}/${++this.#made}`)
      .digest('hex')
      .slice(0, 6);
    const arn = `arn:aws:secretsmanager:${region}:${ACCOUNT}:secret:${name}-${suffix}`;
    const secret: Secret = { arn, name, versions: new Map(), isDeleted: false };
    this.#secrets.set(`${region}/${name}`, secret);
    return secret;
  }

  arnOf(name: string, region: string = REGION): string {
    return this.#secrets.get(`${region}/${name}`)?.arn ?? '';
  }

  /** scheduleDeletion schedules the deletion of a secret: it can be described, but not read. */
  scheduleDeletion(name: string): void {
    const secret = this.#secrets.get(`${REGION}/${name}`);
    if (secret) secret.isDeleted = true;
  }

  /** restore cancels a scheduled deletion. */
  restore(name: string): void {
    const secret = this.#secrets.get(`${REGION}/${name}`);
    if (secret) secret.isDeleted = false;
  }

  /** remove deletes a secret immediately. */
  remove(name: string): void {
    this.#secrets.delete(`${REGION}/${name}`);
  }

  /** deny revokes the permission for an operation (or `*`) on the secrets that a glob matches. */
  deny(operation: string, secret: string, unless?: (call: FakeAwsCall) => boolean): void {
    this.#denials.push({ operation, secret: glob(secret), unless });
  }

  /** allow removes all denials. */
  allow(): void {
    this.#denials.length = 0;
  }

  /** fail makes the next calls of an operation (or `*`) fail like AWS, one code each. */
  fail(operation: string, ...codes: readonly string[]): void {
    for (const code of codes)
      this.#failures.push({ operation, code, status: code === 'InternalServiceError' ? 500 : 400 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.http[Symbol.asyncDispose]();
  }

  #answer(request: FakeRequest): FakeResponse {
    const headers = { date: new Date(Date.now() + this.aheadMs).toUTCString() };
    const answer = this.#answerTo(request);
    return { ...answer, headers: { ...headers, 'x-amzn-requestid': `request-${++this.#made}`, ...answer.headers } };
  }

  #answerTo(request: FakeRequest): FakeResponse {
    try {
      const form = new URLSearchParams(request.headers['x-amz-target'] ? '' : request.body);
      // A client with a token of the cluster has no key to sign with.
      if (form.get('Action') === 'AssumeRoleWithWebIdentity') return this.sts.answer(form, undefined);
      const signer = verifySignature(request, (id) => this.#keyOf(id), Date.now() + this.aheadMs);
      if (signer.service === 'sts') return this.sts.answer(form, signer);
      return {
        status: 200,
        body: this.#call(request, signer),
        headers: { 'content-type': 'application/x-amz-json-1.1' },
      };
    } catch (error) {
      if (error instanceof Refusal) return problem(error.status, error.code, error.message);
      if (error instanceof SignatureProblem) return problem(400, error.code, error.message);
      throw error;
    }
  }

  #keyOf(accessKeyId: string): SigningKey | undefined {
    return accessKeyId === this.key.accessKeyId ? this.key : this.sts.sessions.get(accessKeyId);
  }

  #call(request: FakeRequest, { accessKeyId, region }: Signer): object {
    const operation = String(request.headers['x-amz-target']).replace(/^secretsmanager\./, '');
    const input = JSON.parse(request.body) as Input;
    const session = this.sts.sessions.get(accessKeyId);
    const secrets = input.SecretIdList ?? [input.SecretId ?? ''];
    const call: FakeAwsCall = { operation, secrets, region, role: session?.role, sessionTags: session?.tags ?? {} };
    this.calls.push(call);
    const index = this.#failures.findIndex((failure) => ['*', operation].includes(failure.operation));
    const [failure] = index < 0 ? [] : this.#failures.splice(index, 1);
    if (failure)
      throw new Refusal(
        failure.code,
        `${failure.code} of request 5f0c7127-f8cd-4a0f-9d5e-9d6d1f2b3c4d`,
        failure.status,
      );
    switch (operation) {
      case 'GetSecretValue':
        return this.#value(call, input);
      case 'DescribeSecret':
        return this.#description(call, input);
      case 'BatchGetSecretValue':
        return this.#batch(call);
      default:
        throw new Refusal('UnknownOperationException', `${operation} is not part of the fake`);
    }
  }

  #batch(call: FakeAwsCall): object {
    if (call.secrets.length > 20) throw new Refusal('InvalidParameterException', 'SecretIdList has more than 20 items');
    this.#check(call, '*');
    const values: object[] = [];
    const errors: object[] = [];
    for (const SecretId of call.secrets) {
      try {
        values.push(this.#value({ ...call, operation: 'GetSecretValue' }, { SecretId }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        errors.push({ SecretId, ErrorCode: error.code, Message: error.message });
      }
    }
    // AWS guarantees no order.
    return { SecretValues: values.reverse(), Errors: errors };
  }

  #value(call: FakeAwsCall, { SecretId = '', VersionId, VersionStage }: Input): object {
    this.#check(call, SecretId);
    const secret = this.#find(SecretId, call.region);
    if (secret.isDeleted) {
      throw new Refusal(
        'InvalidRequestException',
        "You can't perform this operation on the secret because it was marked for deletion.",
      );
    }
    const stage = VersionStage ?? 'AWSCURRENT';
    const found = [...secret.versions].find(([id, { stages }]) => (VersionId ? id === VersionId : stages.has(stage)));
    if (!found) {
      throw new Refusal(
        'ResourceNotFoundException',
        `Secrets Manager can't find the specified secret value for ${VersionId ? `VersionId: ${VersionId}` : `staging label: ${stage}`}`,
      );
    }
    const [id, { value, stages }] = found;
    const held = 'SecretString' in value ? value : { SecretBinary: Buffer.from(value.SecretBinary).toString('base64') };
    return {
      ARN: secret.arn,
      Name: secret.name,
      VersionId: id,
      VersionStages: [...stages],
      CreatedDate: 1.7e9,
      ...held,
    };
  }

  #description(call: FakeAwsCall, { SecretId = '' }: Input): object {
    this.#check(call, SecretId);
    const { arn, name, versions, isDeleted } = this.#find(SecretId, call.region);
    const labelled = [...versions].filter(([, { stages }]) => stages.size > 0);
    const stages = Object.fromEntries(labelled.map(([id, version]) => [id, [...version.stages]]));
    return { ARN: arn, Name: name, VersionIdsToStages: stages, ...(isDeleted ? { DeletedDate: 1.7e9 } : {}) };
  }

  #check(call: FakeAwsCall, secret: string): void {
    const isDenied = this.#denials.some(({ operation, secret: covered, unless }) => {
      // The permission for batch reads is not for a single secret.
      const isMeant = secret === '*' ? operation === call.operation : covered.matches(secret);
      return isMeant && ['*', call.operation].includes(operation) && !unless?.(call);
    });
    if (!isDenied) return;
    throw new Refusal(
      'AccessDeniedException',
      `User: arn:aws:sts::${ACCOUNT}:assumed-role/reader/session is not authorized to perform: secretsmanager:${call.operation} on resource: ${secret} because no identity-based policy allows the action`,
    );
  }

  #find(id: string, region: string): Secret {
    const secret = [...this.#secrets].find(
      ([key, { arn }]) =>
        key === `${region}/${id}` || (key.startsWith(`${region}/`) && (arn === id || arn.slice(0, -7) === id)),
    )?.[1];
    if (!secret) throw new Refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return secret;
  }
}

/** useEnvironment sets variables of this process until it is disposed of; undefined removes one. */
export function useEnvironment(variables: Readonly<Record<string, string | undefined>>): Disposable {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const [name, value] of Object.entries(variables)) set(name, value);
  return {
    [Symbol.dispose]: () => {
      for (const [name, value] of before) set(name, value);
    },
  };
}

function problem(status: number, code: string, message: string): FakeResponse {
  return {
    status,
    body: { __type: code, Message: message },
    headers: { 'content-type': 'application/x-amz-json-1.1' },
  };
}
