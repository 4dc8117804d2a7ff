import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom, systemClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../../../../test/support/fault-proxy/fault.ts';
import { FaultProxy } from '../../../../../test/support/fault-proxy/fault-proxy.ts';
import { ensureMoto, type InstalledMoto } from '../../../../../test/support/moto/ensure-moto.ts';
import { MOTO_REGION, type RunningMoto, startMoto } from '../../../../../test/support/moto/start-moto.ts';
import { SourceReads } from '../../sources/source-reads.ts';
import { configOf } from '../../testing/config-of.test-support.ts';
import { useEnvironment } from '../../testing/fake-aws.test-support.ts';
import { providerContract } from '../contract.test-support.ts';
import { configureProvider } from '../provider-kinds.ts';
import { AwsSecretsManager } from './aws-secretsmanager.ts';
import { NEVER, refTo } from './aws-store.test-support.ts';
import { config } from './config.ts';
import { awsSecretsManager } from './kind.ts';

const installed = await ensureMoto();
if ('skippedBecause' in installed) it.skip(`Secrets Manager of moto: ${installed.skippedBecause}`, () => undefined);
else describe('Secrets Manager of moto', () => suite(installed));

const KEY = { accessKeyId: 'AKIAFAKEOPERATOR0002', secretAccessKey: 'fake-secret-access-key-for-moto' };

function suite(program: InstalledMoto): void {
  let moto: RunningMoto;
  let proxy: FaultProxy;
  let folder: string;
  let endpoint: string;
  let environment: Disposable;
  /** The faults for the next requests, one each. */
  const faults: { readonly fault: Fault; readonly when: () => void }[] = [];
  let tests = 0;

  beforeAll(async () => {
    moto = await startMoto(program);
    proxy = await FaultProxy.start({
      upstream: { server: moto.url },
      schedule: () => {
        const next = faults.shift();
        next?.when();
        return next?.fault;
      },
    });
    folder = await mkdtemp(join(tmpdir(), 'moto-'));
    const { server, ca } = await proxy.connection('provider');
    endpoint = server;
    await writeFile(join(folder, 'ca.pem'), String(ca));
    environment = useEnvironment({
      AWS_PROFILE: undefined,
      AWS_REGION: MOTO_REGION,
      AWS_ACCESS_KEY_ID: KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey,
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_CA_BUNDLE: join(folder, 'ca.pem'),
    });
  });
  afterAll(async () => {
    environment?.[Symbol.dispose]();
    await proxy?.close();
    await moto?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true });
  });

  const put = async (name: string, value: object | string): Promise<void> => {
    const SecretString = typeof value === 'string' ? value : JSON.stringify(value);
    await moto.secretsManager('PutSecretValue', { SecretId: name, SecretString }).catch(async () => {
      await moto.secretsManager('CreateSecret', { Name: name, SecretString });
    });
  };
  const nextFault = (fault: Fault): Promise<void> =>
    new Promise((when) => {
      faults.push({ fault, when });
    });
  const provider = (stop: AbortSignal, observed: string[] = [], section: object = { endpoint }): AwsSecretsManager =>
    new AwsSecretsManager({
      config: configOf(config, section),
      env: process.env,
      clock: systemClock,
      observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
      signal: stop,
    });

  providerContract('aws-secretsmanager', {
    setup: async () => {
      const stop = new AbortController();
      const observed: string[] = [];
      const place = `contract-${++tests}`;
      return {
        provider: provider(stop.signal, observed),
        observed,
        credentials: Object.values(KEY),
        ref: (word) => refTo(`${place}/${word}`),
        put: (ref, fields) => put(ref.path, fields),
        remove: ({ path }) => moto.secretsManager('DeleteSecret', { SecretId: path, ForceDeleteWithoutRecovery: true }),
        failOnce: (how) => {
          void nextFault(how === 'status' ? { kind: 'answer', status: 500 } : { kind: 'drop', when: 'before' });
        },
        hangOnce: () => nextFault({ kind: 'delay', ms: 600_000 }),
        putEmpty: ({ path }) => moto.secretsManager('CreateSecret', { Name: path }),
        [Symbol.asyncDispose]: async () => stop.abort(),
      };
    },
    // The permission check of moto is covered by another test: behind the proxy no signature is valid, because it
    // covers the address.
    lacks: ['denial'],
    empty: 'not-found',
    invalidPaths: [],
    names: (path) => awsSecretsManager.names(path, configOf(config)),
  });

  it('is read by stage, by version and by ARN', async () => {
    const stop = new AbortController();
    for (const text of ['one', 'two']) await put('stages/db', text);
    const { ARN, VersionIdsToStages } = await moto.secretsManager('DescribeSecret', { SecretId: 'stages/db' });
    const stages = Object.entries(VersionIdsToStages as Record<string, string[]>);
    const versionOf = (stage: string): string | undefined => stages.find(([, each]) => each.includes(stage))?.[0];
    const reads = [
      { ref: refTo('stages/db'), text: 'two', version: versionOf('AWSCURRENT') },
      { ref: refTo(String(ARN)), text: 'two', version: versionOf('AWSCURRENT') },
      { ref: refTo('stages/db', { versionStage: 'AWSPREVIOUS' }), text: 'one', version: versionOf('AWSPREVIOUS') },
      {
        ref: refTo('stages/db', { versionId: versionOf('AWSPREVIOUS') }),
        text: 'one',
        version: versionOf('AWSPREVIOUS'),
      },
    ];
    const store = provider(stop.signal);
    for (const { ref, text, version } of reads) {
      expect(await store.fetchSecret(ref, NEVER)).toMatchObject({ payload: { text }, version });
      expect(await store.probeVersion(ref, NEVER)).toBe(version);
    }
    stop.abort();
  });

  it('rejects a secret that is scheduled for deletion', async () => {
    const stop = new AbortController();
    await put('deleted/db', 'one');
    await moto.secretsManager('DeleteSecret', { SecretId: 'deleted/db' });
    await expect(provider(stop.signal).fetchSecret(refTo('deleted/db'), NEVER)).rejects.toMatchObject({
      kind: 'refused',
      code: 'InvalidRequestException',
    });
    stop.abort();
  });

  it('is read after three consecutive failures, with one call that reaches the store', async () => {
    const stop = new AbortController();
    await put('retried/db', 'one');
    const observed: string[] = [];
    const reads = new SourceReads({
      kinds: new Map([['aws-secretsmanager', configureProvider(awsSecretsManager, configOf(config, { endpoint }))]]),
      metrics: {
        observeCall: ({ operation, code }) => observed.push(`${operation} ${code}`),
        countCoalesced: () => undefined,
      },
      context: {
        clock: systemClock,
        // The shortest delays.
        random: { ...seededRandom(1), next: () => 0 },
        signal: stop.signal,
        namespace: 'bowline-system',
        env: process.env,
        // The provider needs neither of them.
        client: {} as Client,
        log: {} as Log,
      },
    });
    const struck = [
      nextFault({ kind: 'answer', status: 503 }),
      nextFault({ kind: 'drop', when: 'answer' }),
      nextFault({ kind: 'drop', when: 'before' }),
    ];
    const source = { provider: 'aws-secretsmanager', ref: refTo('retried/db') };
    const answer = await reads.read(source, { since: systemClock.monotonic() }, NEVER);
    await Promise.all(struck);
    expect(answer).toMatchObject({ secret: { payload: { text: 'one' } } });
    expect(observed.at(-1)).toBe('GetSecretValue OK');
    expect(observed).toHaveLength(4);
    stop.abort();
  });

  it('verifies signatures, and denies what a policy does not allow', async () => {
    const stop = new AbortController();
    for (const name of ['iam/one', 'iam/two']) await put(name, 'value');
    // The permissions of moto are for operations, not for single secrets.
    const user = (name: string, ...actions: readonly string[]): ReturnType<RunningMoto['createUser']> => {
      const Action = actions.map((action) => `secretsmanager:${action}`);
      return moto.createUser(name, { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] });
    };
    const reader = await user('reader', 'GetSecretValue');
    const lister = await user('lister', 'ListSecrets');
    const as = async <T>(key: typeof KEY, read: (store: AwsSecretsManager) => Promise<T>): Promise<unknown> => {
      using _ = useEnvironment({ AWS_ACCESS_KEY_ID: key.accessKeyId, AWS_SECRET_ACCESS_KEY: key.secretAccessKey });
      // Not through the proxy: a signature covers the address.
      return await read(provider(stop.signal, [], { endpoint: moto.url })).catch((error: unknown) => error);
    };
    const [one, two] = [refTo('iam/one'), refTo('iam/two')];
    await moto.checkIam(true);
    try {
      expect(await as(reader, (store) => store.fetchSecret(one, NEVER))).toMatchObject({ payload: { text: 'value' } });
      expect(await as(reader, (store) => store.probeVersion(one, NEVER))).toBeUndefined();
      const both = [one, two].map(({ path }) => ({ sourcePath: path, payload: { text: 'value' } }));
      expect(await as(reader, (store) => store.fetchSecrets([one, two], NEVER))).toMatchObject(both);
      expect(await as(lister, (store) => store.fetchSecret(one, NEVER))).toMatchObject({
        kind: 'denied',
        message: expect.stringContaining('needs secretsmanager:GetSecretValue on the secret') as string,
      });
      const forged = { ...reader, secretAccessKey: lister.secretAccessKey };
      expect(await as(forged, (store) => store.fetchSecret(one, NEVER))).toMatchObject({ kind: 'denied' });
    } finally {
      await moto.checkIam(false);
    }
    stop.abort();
  });
}
