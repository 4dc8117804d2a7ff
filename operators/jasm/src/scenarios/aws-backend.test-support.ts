import { ensureMoto } from '../../../../test/support/moto/ensure-moto.ts';
import { MOTO_REGION, type RunningMoto, startMoto } from '../../../../test/support/moto/start-moto.ts';
import { FakeAws } from '../testing/fake-aws.test-support.ts';

/** AwsBackend is a server that implements the protocol of Secrets Manager, from an administrator's view. */
export interface AwsBackend extends AsyncDisposable {
  readonly url: string;
  /** The environment variables that give a process credentials for it, and for no other AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * put creates a version of a secret, the current one, and returns its id. A value that is neither text nor bytes is
   * stored as JSON.
   */
  put(name: string, value: string | object | Uint8Array): Promise<string>;
  /** create creates a secret without a value. */
  create(name: string): Promise<void>;
  /** remove deletes a secret immediately. */
  remove(name: string): Promise<void>;
  /** scheduleDeletion schedules the deletion of a secret: it can be described, but not read. */
  scheduleDeletion(name: string): Promise<void>;
  /** restore cancels a scheduled deletion. */
  restore(name: string): Promise<void>;
}

/**
 * backendFor returns the server for tests on a kind of control plane: our own fake for the embedded one; for the real
 * one moto, which is third-party, if the machine can run it.
 */
export async function backendFor(kind: 'embedded' | 'kubernetes'): Promise<AwsBackend> {
  const moto = kind === 'kubernetes' ? await sharedMoto() : undefined;
  return moto ? motoBackend(moto) : await fakeBackend();
}

let starting: Promise<RunningMoto | undefined> | undefined;

/**
 * sharedMoto returns one instance for all test files of a worker, and ends with the worker: starting one takes seconds.
 */
function sharedMoto(): Promise<RunningMoto | undefined> {
  starting ??= ensureMoto().then((found) => {
    if (!('skippedBecause' in found)) return startMoto(found);
    process.stderr.write(
      `SKIPPED: JASM's scenarios with moto, which run with our own fake instead. ${found.skippedBecause}\n`,
    );
    return undefined;
  });
  return starting;
}

/** fakeBackend returns our own fake, which verifies every signature. */
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

/** motoBackend wraps a moto for a scenario. Its secrets are left behind; no other scenario uses their names. */
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
