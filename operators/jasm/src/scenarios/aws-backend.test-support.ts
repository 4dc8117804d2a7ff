import { ensureMoto } from '../../../../test/support/moto/ensure-moto.ts';
import { MOTO_REGION, type RunningMoto, startMoto } from '../../../../test/support/moto/start-moto.ts';
import { FakeAws } from '../testing/fake-aws.test-support.ts';

/** AwsBackend is a server of Secrets Manager's protocol, as whoever administers it sees it. */
export interface AwsBackend extends AsyncDisposable {
  readonly url: string;
  /** The variables by which a process has credentials for it, and for no other AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** put makes a version of a secret, the current one, and answers its id. What is no text and no bytes is JSON. */
  put(name: string, value: string | object | Uint8Array): Promise<string>;
  /** create makes a secret that has no value. */
  create(name: string): Promise<void>;
  /** remove deletes a secret without a delay. */
  remove(name: string): Promise<void>;
  /** scheduleDeletion leaves a secret to be deleted: it can be described, and not read. */
  scheduleDeletion(name: string): Promise<void>;
  /** restore takes that back. */
  restore(name: string): Promise<void>;
}

/**
 * backendFor is the server for tests on a kind of control plane: our own fake on our own one; on the real one moto, which we did not
 * write, where the machine can have it.
 */
export async function backendFor(kind: 'embedded' | 'kubernetes'): Promise<AwsBackend> {
  const moto = kind === 'kubernetes' ? await sharedMoto() : undefined;
  return moto ? motoBackend(moto) : await fakeBackend();
}

let starting: Promise<RunningMoto | undefined> | undefined;

/** sharedMoto is one for all test files of a worker, with which it ends: starting one takes seconds. */
function sharedMoto(): Promise<RunningMoto | undefined> {
  starting ??= ensureMoto().then((found) => {
    if (!('leftOut' in found)) return startMoto(found);
    process.stderr.write(
      `LEFT OUT: JASM's scenarios with moto, which run with our own fake instead. ${found.leftOut}\n`,
    );
    return undefined;
  });
  return starting;
}

/** fakeBackend is our own fake, which verifies every signature. */
async function fakeBackend(): Promise<AwsBackend> {
  const fake = await FakeAws.start();
  return {
    url: fake.http.url,
    environment: fake.environment,
    put: (name, value) => Promise.resolve(fake.put(name, value)),
    create: (name) => {
      fake.create(name);
      return Promise.resolve();
    },
    remove: (name) => Promise.resolve(fake.remove(name)),
    scheduleDeletion: (name) => Promise.resolve(fake.scheduleDeletion(name)),
    restore: (name) => Promise.resolve(fake.restore(name)),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

/** motoBackend is what a scenario has of a moto. Its secrets stay behind; nobody else has their names. */
function motoBackend({ url, secretsManager }: RunningMoto): AwsBackend {
  const made = new Set<string>();
  const make = async (Name: string, value: object): Promise<string> => {
    const answer = made.has(Name)
      ? await secretsManager('PutSecretValue', { SecretId: Name, ...value })
      : await secretsManager('CreateSecret', { Name, ...value });
    made.add(Name);
    return String(answer.VersionId);
  };
  const forget = async (SecretId: string, more: object): Promise<void> => {
    await secretsManager('DeleteSecret', { SecretId, ...more });
  };
  return {
    url,
    environment: {
      AWS_REGION: MOTO_REGION,
      AWS_ACCESS_KEY_ID: 'AKIAOPERATOROFATEST',
      AWS_SECRET_ACCESS_KEY: 'which-moto-does-not-check',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    put: (name, value) => make(name, contentOf(value)),
    create: async (name) => {
      await make(name, {});
    },
    remove: async (name) => {
      await forget(name, { ForceDeleteWithoutRecovery: true });
      made.delete(name);
    },
    scheduleDeletion: (name) => forget(name, { RecoveryWindowInDays: 7 }),
    restore: async (SecretId) => {
      await secretsManager('RestoreSecret', { SecretId });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function contentOf(value: string | object | Uint8Array): object {
  if (value instanceof Uint8Array) return { SecretBinary: Buffer.from(value).toString('base64') };
  return { SecretString: typeof value === 'string' ? value : JSON.stringify(value) };
}
