import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AwsClients } from './aws-clients.ts';
import { AwsStore, NEVER, refTo } from './aws-store.test-support.ts';

const READER = 'arn:aws:iam::123456789012:role/reader';
const OTHER = 'arn:aws:iam::123456789012:role/other';

describe('a role', () => {
  it('from the configuration is assumed once for all reads', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {});
    store.fake.put('prod/db', 'one');
    const provider = store.provider({ role: READER });
    for (let time = 0; time < 3; time++) await provider.fetchSecret(refTo('prod/db'), NEVER);
    expect(store.fake.sts.calls).toEqual([`AssumeRole ${READER}`]);
    expect(store.fake.calls.map(({ role }) => role)).toEqual([READER, READER, READER]);
    expect(store.observed).toEqual(['AssumeRole OK', ...new Array<string>(3).fill('GetSecretValue OK')]);
  });

  it('from the request takes precedence over the configured one, and each has its own session', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {}).set(OTHER, {});
    store.fake.put('prod/db', 'one');
    const provider = store.provider({ role: READER });
    for (const role of [undefined, OTHER]) await provider.fetchSecret(refTo('prod/db', { role }), NEVER);
    expect(store.fake.calls.map(({ role }) => role)).toEqual([READER, OTHER]);
  });

  it('is assumed with the external id; if it is missing or wrong, the message reports it', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, { externalId: 'bowline-4711' });
    store.fake.put('prod/db', 'one');
    await store.provider({ role: READER, externalId: 'bowline-4711' }).fetchSecret(refTo('prod/db'), NEVER);
    const wrong = store.provider({ role: READER, externalId: 'guessed-0815' });
    const error = await wrong.fetchSecret(refTo('prod/db'), NEVER).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'denied', operation: 'AssumeRole', code: 'AccessDenied' });
    const { message } = error as Error;
    expect(message).toContain(`cannot assume the role ${READER} (AccessDenied)`);
    for (const hidden of ['0815', store.fake.key.accessKeyId]) expect(message).not.toContain(hidden);
  });

  it('tags its sessions with the namespace, and shares none between namespaces', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {});
    store.fake.put('red/db', 'one');
    store.fake.deny('*', 'red/**', ({ sessionTags }) => sessionTags['jasm-namespace'] === 'red');
    const provider = store.provider({ role: READER, sessionTags: true });
    const red = refTo('red/db', { namespace: 'red' });
    expect(await provider.fetchSecret(red, NEVER)).toMatchObject({ payload: { text: 'one' } });
    const blue = refTo('red/db', { namespace: 'blue' });
    await expect(provider.fetchSecret(blue, NEVER)).rejects.toMatchObject({ kind: 'denied' });
    const sessions = [...store.fake.sts.sessions.values()].map(({ name, tags }) => [name, tags]);
    expect(sessions).toEqual([
      ['jasm-red', { 'jasm-namespace': 'red' }],
      ['jasm-blue', { 'jasm-namespace': 'blue' }],
    ]);
  });

  it('is assumed again before its session ends', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {});
    store.fake.put('prod/db', 'one');
    // The SDK refreshes credentials within their last minutes.
    store.fake.sts.sessionMs = 60_000;
    const provider = store.provider({ role: READER });
    const read = async (): Promise<number> => {
      await provider.fetchSecret(refTo('prod/db'), NEVER);
      return store.fake.sts.calls.length;
    };
    const first = await read();
    store.fake.sts.sessionMs = 3_600_000;
    const renewed = await read();
    expect(renewed).toBeGreaterThan(first);
    expect(await read()).toBe(renewed);
  });

  it('is assumed again after the first attempt got no response', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {});
    store.fake.put('prod/db', 'one');
    const provider = store.provider({ role: READER });
    store.fake.http.fail(/^\/$/, 'hang');
    const hanging = store.fake.http.hanging();
    const late = { kind: 'transient', operation: 'AssumeRole', code: 'TimeoutError' };
    const first = expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject(late);
    await hanging;
    await store.clock.advance(30_000);
    await first;
    expect(await provider.fetchSecret(refTo('prod/db'), NEVER)).toMatchObject({ payload: { text: 'one' } });
    expect(store.clock.pendingTimers).toBe(0);
  });

  it('has one of at most 256 clients; the least recently used is dropped first', async () => {
    await using store = await AwsStore.start();
    const clients = new AwsClients(store.context());
    const clientOf = (namespace: number): unknown =>
      clients.clientFor({ region: 'eu-central-1', role: READER, namespace: `team-${namespace}` });
    const [first, second] = [clientOf(0), clientOf(1)];
    for (let namespace = 2; namespace < 256; namespace++) clientOf(namespace);
    expect(clientOf(0)).toBe(first);
    clientOf(256);
    expect(clientOf(0)).toBe(first);
    expect(clientOf(1)).not.toBe(second);
  });
});

describe('credentials', () => {
  it('come from a web identity (IRSA), and are used to assume a role', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'web-identity-'));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, 'fake-web-identity-token');
    try {
      await using store = await AwsStore.start({
        AWS_ACCESS_KEY_ID: undefined,
        AWS_SECRET_ACCESS_KEY: undefined,
        AWS_ROLE_ARN: OTHER,
        AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      });
      store.fake.sts.roles.set(OTHER, { webIdentityToken: 'fake-web-identity-token' }).set(READER, {});
      store.fake.put('prod/db', 'one');
      await store.provider().fetchSecret(refTo('prod/db'), NEVER);
      await store.provider({ role: READER }).fetchSecret(refTo('prod/db'), NEVER);
      expect(store.fake.calls.map(({ role }) => role)).toEqual([OTHER, READER]);
      await writeFile(tokenFile, 'of-another-cluster');
      await expect(store.provider().fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
        kind: 'denied',
        operation: 'GetCredentials',
        message: expect.stringMatching(
          /found no valid AWS credentials \(InvalidIdentityToken(?:Exception)?\)/,
        ) as string,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('come from the container (EKS Pod Identity)', async () => {
    await using store = await AwsStore.start({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    store.fake.put('prod/db', 'one');
    const { accessKeyId, secretAccessKey } = store.fake.key;
    store.fake.http.fail(/^\/credentials$/, {
      status: 200,
      body: {
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        Token: 'unused',
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      },
    });
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `${store.fake.http.url}/credentials`;
    try {
      const secret = await store.provider().fetchSecret(refTo('prod/db'), NEVER);
      expect(secret).toMatchObject({ payload: { text: 'one' } });
    } finally {
      delete process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
    }
  });

  it('that are missing are reported with how to provide them, and Secrets Manager is not called', async () => {
    await using store = await AwsStore.start({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined });
    await expect(store.provider().fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
      kind: 'denied',
      code: 'CredentialsProviderError',
      message: expect.stringMatching(/IRSA or EKS Pod Identity.*AWS_ACCESS_KEY_ID/) as string,
    });
    expect([store.fake.made, store.observed]).toEqual([[], []]);
  });

  it('with a wrong secret are rejected because of the signature', async () => {
    await using store = await AwsStore.start({ AWS_SECRET_ACCESS_KEY: 'another-secret-that-is-wrong' });
    store.fake.put('prod/db', 'one');
    await expect(store.provider().fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
      kind: 'denied',
      code: 'InvalidSignatureException',
    });
    expect(store.fake.calls).toEqual([]);
  });

  it('that STS cannot issue at the moment cause a transient error', async () => {
    await using store = await AwsStore.start();
    store.fake.sts.roles.set(READER, {});
    store.fake.put('prod/db', 'one');
    const provider = store.provider({ role: READER });
    store.fake.http.fail(/^\/$/, { status: 500, body: 'not now' });
    await expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
      kind: 'transient',
      operation: 'AssumeRole',
    });
    expect(await provider.fetchSecret(refTo('prod/db'), NEVER)).toMatchObject({ payload: { text: 'one' } });
  });
});

it('reports which file with certificate authorities cannot be read', async () => {
  await using store = await AwsStore.start({ AWS_CA_BUNDLE: '/nowhere/ca.pem' });
  expect(() => store.provider()).toThrow(
    'cannot read the file /nowhere/ca.pem that AWS_CA_BUNDLE names (ENOENT); mount it, or unset the variable',
  );
});
