import { describe, expect, it } from 'vitest';
import { configOf } from '../../testing/config-of.test-support.ts';
import { providerContract } from '../contract.test-support.ts';
import { AwsStore, NEVER, refTo } from './aws-store.test-support.ts';
import { config } from './config.ts';
import { awsSecretsManager } from './kind.ts';

providerContract('aws-secretsmanager', {
  setup: async () => {
    const store = await AwsStore.start();
    const { fake, observed } = store;
    return {
      provider: store.provider(),
      observed,
      credentials: [fake.key.secretAccessKey, fake.key.accessKeyId],
      ref: (word) => refTo(`prod/${word}`),
      put: (ref, fields) => fake.put(ref.path, fields),
      remove: (ref) => fake.remove(ref.path),
      deny: (ref) => fake.deny('*', ref.path),
      failOnce: (how) => (how === 'status' ? fake.fail('*', 'InternalServiceError') : fake.http.fail(/^\/$/, 'reset')),
      hangOnce: () => {
        fake.http.fail(/^\/$/, 'hang');
        return fake.http.hanging();
      },
      putEmpty: (ref) => fake.create(ref.path),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  },
  empty: 'not-found',
  invalidPaths: [
    '',
    'with space',
    'ümlaut',
    'a?b',
    'x'.repeat(513),
    'arn:aws:secretsmanager:eu-central-1:123456789012:secret:',
    'arn:aws:s3:::bucket',
    'arn:aws:secretsmanager:eu-central-1:1234:secret:prod/db-abcdef',
  ],
  names: (path) => awsSecretsManager.names(path, configOf(config)),
});

describe('a secret in Secrets Manager', () => {
  it('is read as text or as bytes, with its version', async () => {
    await using store = await AwsStore.start();
    const text = store.fake.put('prod/text', '{"n": 12345678901234567890}');
    const bytes = store.fake.put('prod/bytes', Uint8Array.of(0, 255, 10));
    const provider = store.provider();
    expect(await provider.fetchSecret(refTo('prod/text'), NEVER)).toEqual({
      provider: 'aws-secretsmanager',
      sourcePath: 'prod/text',
      payload: { kind: 'text', text: '{"n": 12345678901234567890}' },
      version: text,
    });
    const secret = await provider.fetchSecret(refTo('prod/bytes'), NEVER);
    expect(secret).toMatchObject({ payload: { kind: 'bytes' }, version: bytes });
    expect(secret.payload).toMatchObject({ bytes: Uint8Array.of(0, 255, 10) });
  });

  it('is read by stage or by version', async () => {
    await using store = await AwsStore.start();
    const ids = ['one', 'two', 'three'].map((text) => store.fake.put('prod/db', text));
    const provider = store.provider();
    const cases = [
      { ref: refTo('prod/db'), text: 'three', version: ids[2] },
      { ref: refTo('prod/db', { versionStage: 'AWSPREVIOUS' }), text: 'two', version: ids[1] },
      { ref: refTo('prod/db', { versionId: ids[0] }), text: 'one', version: ids[0] },
    ];
    for (const { ref, text, version } of cases) {
      expect(await provider.fetchSecret(ref, NEVER)).toMatchObject({ payload: { text }, version });
    }
    // The first has no label any more: only reading shows whether it exists.
    const probed = await Promise.all(cases.map(({ ref }) => provider.probeVersion(ref, NEVER)));
    expect(probed).toEqual([ids[2], ids[1], undefined]);
  });

  it('that is scheduled for deletion is rejected with what to do, and has no version', async () => {
    await using store = await AwsStore.start();
    store.fake.put('prod/db', 'one');
    store.fake.scheduleDeletion('prod/db');
    const provider = store.provider();
    expect(await provider.probeVersion(refTo('prod/db'), NEVER)).toBeUndefined();
    await expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
      kind: 'refused',
      code: 'InvalidRequestException',
      message: 'GetSecretValue of prod/db: the secret is scheduled for deletion; restore it, or use another secret',
    });
  });

  it('is read by its ARN, with or without the suffix, only in the region of the ARN', async () => {
    await using store = await AwsStore.start();
    store.fake.put('prod/db', 'one');
    store.fake.put('prod/db', 'far', 'us-east-1');
    const provider = store.provider();
    const arn = store.fake.arnOf('prod/db');
    for (const path of [arn, arn.slice(0, -7)]) {
      expect(await provider.fetchSecret(refTo(path), NEVER)).toMatchObject({ payload: { text: 'one' } });
    }
    const far = store.fake.arnOf('prod/db', 'us-east-1');
    await expect(provider.fetchSecret(refTo(far), NEVER)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('set region: us-east-1 in the annotation') as string,
    });
    const permitted = refTo(far, { region: 'us-east-1' });
    expect(await provider.fetchSecret(permitted, NEVER)).toMatchObject({ payload: { text: 'far' } });
    expect(store.fake.calls.map(({ region }) => region)).toEqual(['eu-central-1', 'eu-central-1', 'us-east-1']);
  });

  it('is read in the configured region, at the configured endpoint', async () => {
    await using store = await AwsStore.start({ AWS_ENDPOINT_URL: undefined, AWS_REGION: undefined });
    store.fake.put('prod/db', 'far', 'us-gov-west-1');
    const provider = store.provider({ region: 'us-gov-west-1', endpoint: store.fake.http.url });
    expect(await provider.fetchSecret(refTo('prod/db'), NEVER)).toMatchObject({ payload: { text: 'far' } });
  });

  it('is not read without a region, and the message names the setting', async () => {
    await using store = await AwsStore.start({ AWS_REGION: undefined, AWS_DEFAULT_REGION: undefined });
    await expect(store.provider().fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('set aws.region or AWS_REGION') as string,
    });
  });

  it('is read in the second attempt if the clocks differ', async () => {
    await using store = await AwsStore.start();
    store.fake.put('prod/db', 'one');
    store.fake.aheadMs = 3_600_000;
    const provider = store.provider();
    await expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({ kind: 'transient' });
    expect(await provider.fetchSecret(refTo('prod/db'), NEVER)).toMatchObject({ payload: { text: 'one' } });
  });
});

describe('versions in Secrets Manager', () => {
  it('are not requested again for an hour if DescribeSecret is denied', async () => {
    await using store = await AwsStore.start();
    const version = store.fake.put('prod/db', 'one');
    store.fake.put('prod/open', 'two');
    store.fake.deny('DescribeSecret', 'prod/db');
    const provider = store.provider();
    expect(await provider.probeVersion(refTo('prod/db'), NEVER)).toBeUndefined();
    store.fake.allow();
    expect(await provider.probeVersion(refTo('prod/db'), NEVER)).toBeUndefined();
    expect(await provider.probeVersion(refTo('prod/open'), NEVER)).toBeDefined();
    expect(store.fake.made).toEqual(['DescribeSecret prod/db', 'DescribeSecret prod/open']);
    await store.clock.advance(3_600_000);
    expect(await provider.probeVersion(refTo('prod/db'), NEVER)).toBe(version);
  });
});

describe('batches in Secrets Manager', () => {
  it('are read with one call, by name and by ARN', async () => {
    await using store = await AwsStore.start();
    for (const name of ['a', 'b', 'c']) store.fake.put(name, `value of ${name}`);
    const paths = ['a', store.fake.arnOf('b'), store.fake.arnOf('c').slice(0, -7)];
    const secrets = await store.provider().fetchSecrets(
      paths.map((path) => refTo(path)),
      NEVER,
    );
    expect(secrets).toMatchObject(
      ['a', 'b', 'c'].map((name, place) => ({ sourcePath: paths[place], payload: { text: `value of ${name}` } })),
    );
    expect(store.fake.made).toEqual([`BatchGetSecretValue ${paths.join(' ')}`]);
  });

  it('return a separate error for each secret, with the required permission', async () => {
    await using store = await AwsStore.start();
    for (const name of ['a', 'b']) store.fake.put(name, 'one');
    store.fake.deny('GetSecretValue', 'b');
    const far = store.fake.put('far', 'x', 'us-east-1') && store.fake.arnOf('far', 'us-east-1');
    const refs = ['a', 'b', 'unknown', far].map((path) => refTo(path));
    expect(await store.provider().fetchSecrets(refs, NEVER)).toMatchObject([
      { payload: { text: 'one' } },
      {
        kind: 'denied',
        message: expect.stringContaining('needs secretsmanager:GetSecretValue on the secret') as string,
      },
      { kind: 'not-found' },
      { kind: 'refused', code: 'OtherRegion' },
    ]);
    expect(store.fake.made).toEqual(['BatchGetSecretValue a b unknown']);
  });

  it('resolve a name to the secret of our account if another account has a secret of that name', async () => {
    await using store = await AwsStore.start();
    store.fake.put('db', 'ours');
    store.fake.put('other', 'other');
    const arn = store.fake.putElsewhere('db', 'theirs');
    const textsOf = async (...paths: readonly string[]): Promise<readonly unknown[]> => {
      const secrets = await store.provider().fetchSecrets(
        paths.map((path) => refTo(path)),
        NEVER,
      );
      return secrets.map((secret) => ('payload' in secret ? secret.payload : secret.kind));
    };
    const [ours, theirs] = ['ours', 'theirs'].map((text) => ({ kind: 'text', text }));
    expect(await textsOf('db', arn)).toEqual([ours, theirs]);
    expect(await textsOf(arn, 'db')).toEqual([theirs, ours]);
    expect(await textsOf('db', arn.slice(0, -7))).toEqual([ours, theirs]);
    expect(store.fake.made).toHaveLength(3);
    // One secret by two names: one of them is requested again.
    expect(await textsOf('db', store.fake.arnOf('db'), arn)).toEqual([ours, ours, theirs]);
    store.fake.remove('db');
    expect(await textsOf('db', arn)).toEqual(['not-found', theirs]);
  });

  it('are read one by one for an hour if batch reads are denied', async () => {
    await using store = await AwsStore.start();
    for (const name of ['a', 'b']) store.fake.put(name, 'one');
    store.fake.deny('BatchGetSecretValue', '**');
    const provider = store.provider();
    const refs = ['a', 'b'].map((path) => refTo(path));
    for (let time = 0; time < 2; time++) {
      const secrets = await provider.fetchSecrets(refs, NEVER);
      expect(secrets).toMatchObject(refs.map(({ path }) => ({ sourcePath: path, payload: { text: 'one' } })));
    }
    const operations = store.fake.calls.map(({ operation }) => operation);
    expect(operations).toEqual(['BatchGetSecretValue', ...new Array<string>(4).fill('GetSecretValue')]);
  });

  it.each([
    ['InvalidParameterException', 2],
    ['UnheardException', 2],
    ['UnknownOperationException', 1],
  ])(
    'are read one by one if %s rejects the whole batch, which takes %i batch calls in two reads',
    async (code, calls) => {
      await using store = await AwsStore.start();
      for (const name of ['a', 'b']) store.fake.put(name, 'one');
      store.fake.fail('BatchGetSecretValue', code, code);
      const provider = store.provider();
      const refs = ['a', 'b', 'unknown'].map((path) => refTo(path));
      for (let time = 0; time < 2; time++) {
        const secrets = await provider.fetchSecrets(refs, NEVER);
        expect(secrets).toMatchObject([{ sourcePath: 'a' }, { sourcePath: 'b' }, { kind: 'not-found' }]);
      }
      const operations = store.fake.calls.map(({ operation }) => operation);
      expect(operations.filter((operation) => operation === 'BatchGetSecretValue')).toHaveLength(calls);
    },
  );

  it.each(['ThrottlingException', 'UnrecognizedClientException'])('fail as a whole with %s', async (code) => {
    await using store = await AwsStore.start();
    store.fake.fail('BatchGetSecretValue', code);
    const refs = ['a', 'b'].map((path) => refTo(path));
    await expect(store.provider().fetchSecrets(refs, NEVER)).rejects.toMatchObject({ code });
    expect(store.fake.calls).toHaveLength(1);
  });

  it('are read one by one if they specify a version', async () => {
    await using store = await AwsStore.start();
    for (const name of ['a', 'b']) for (const text of ['old', 'new']) store.fake.put(name, text);
    const refs = ['a', 'b'].map((path) => refTo(path, { versionStage: 'AWSPREVIOUS' }));
    expect(await store.provider().fetchSecrets(refs, NEVER)).toMatchObject(
      refs.map(() => ({ payload: { text: 'old' } })),
    );
  });
});

describe('names in Secrets Manager', () => {
  it('get the configured prefix; ARNs must already have it', () => {
    const names = (path: string): readonly string[] =>
      awsSecretsManager.names(path, configOf(config, { prefix: 'prod/' }));
    expect(names('db')).toEqual(['prod/db']);
    const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-abcdef';
    expect(names(arn)).toEqual([arn]);
    expect(() => names(arn.replace('prod/', 'test/'))).toThrow(/begins with "prod\/"/);
  });

  it('depend on the namespace only if sessions are tagged with it', () => {
    const depends = (section: object, role?: string): boolean | undefined =>
      awsSecretsManager.dependsOnNamespace?.(refTo('x', { role }), configOf(config, section));
    const role = 'arn:aws:iam::123456789012:role/reader';
    expect([depends({}), depends({ role }), depends({ sessionTags: true })]).toEqual([false, false, false]);
    expect([depends({ role, sessionTags: true }), depends({ sessionTags: true }, role)]).toEqual([true, true]);
  });
});
