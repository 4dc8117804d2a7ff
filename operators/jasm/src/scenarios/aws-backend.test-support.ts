import { FakeAws } from '../testing/fake-aws.test-support.ts';

/** AwsBackend is a server of Secrets Manager's protocol, as whoever administers it sees it. */
export interface AwsBackend extends AsyncDisposable {
  readonly kind: 'fake' | 'moto';
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

/** backendFor is the server for tests on a kind of control plane. */
export function backendFor(_kind: 'embedded' | 'kubernetes'): Promise<AwsBackend> {
  return fakeBackend();
}

/** fakeBackend is our own fake, which verifies every signature. */
async function fakeBackend(): Promise<AwsBackend> {
  const fake = await FakeAws.start();
  return {
    kind: 'fake',
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
