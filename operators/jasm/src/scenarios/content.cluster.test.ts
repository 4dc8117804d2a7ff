import { Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET_ANNOTATIONS } from '../api/names.ts';
import { secretKey, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const exists = async (name: string): Promise<boolean> => (await c.admin.find(Secret, secretKey(c, name))) !== undefined;

describe('contents of secrets', () => {
  it.each<[what: string, value: string | Uint8Array, more: object, values: Readonly<Record<string, string>>]>([
    ['plain text', 'correct horse', { format: 'raw', key: 'password' }, { password: 'correct horse' }],
    ['a list as text', '["a","b"]', { format: 'raw', key: 'list' }, { list: '["a","b"]' }],
    [
      'numbers to the last digit',
      '{"id":12345678901234567890,"rate":1.10}',
      {},
      { id: '12345678901234567890', rate: '1.10' },
    ],
    [
      'nested objects',
      '{"db":{"port":5432,"on":true},"of":[1, 2]}',
      {},
      { db: '{"port":5432,"on":true}', of: '[1,2]' },
    ],
    ['a member of a nested object', '{"db":{"port":5432}}', { keys: { PORT: 'db.port' } }, { PORT: '5432' }],
    ['an optional key that is null', '{"a":"x","b":null}', { missingKeyPolicy: 'Ignore' }, { a: 'x' }],
    ['an empty object', '{}', {}, {}],
    ['an invalid key that is renamed', '{"a b":"x"}', { keys: { AB: 'a b' } }, { AB: 'x' }],
    ['bytes of a JSON object', Buffer.from('{"a":"x"}'), {}, { a: 'x' }],
  ])('scenario 10 delivers %s', async (what, value, more, values) => {
    const name = what.replaceAll(/[^a-z]+/g, '-');
    await c.aws.put(c.path(name), value);
    await c.createPod(name, c.fromAws(name, more));
    expect(valuesOf(await c.untilSecret(name))).toEqual(values);
  });

  it('scenario 10 delivers bytes unchanged', async () => {
    const bytes = Buffer.from([0, 255, 0xc3, 0x28, 10]);
    await c.aws.put(c.path('bytes'), bytes);
    await c.createPod('bytes', c.fromAws('bytes', { format: 'binary', key: 'keystore' }));
    const { data } = await c.untilSecret('bytes');
    expect(Buffer.from(data?.keystore ?? '', 'base64')).toEqual(bytes);
  });

  it.each<[what: string, value: string | Uint8Array, reason: string, said: string]>([
    ['plain text', 'correct horse', 'SecretParseFailed', 'not valid JSON at line 1, column 1'],
    ['a list', '["correct horse"]', 'SecretParseFailed', 'must be a JSON object, but is a list'],
    ['a quoted string', '"correct horse"', 'SecretParseFailed', 'must be a JSON object, but is text'],
    ['bytes', Buffer.from([0xc3, 0x28]), 'SecretParseFailed', 'set format to binary'],
    ['null', '{"password":null}', 'SecretKeyMissing', '"password" is null'],
    ['a key with a space', '{"a b":"correct horse"}', 'SecretKeyInvalid', '"a b"'],
    ['a key that starts with two dots', '{"..x":"correct horse"}', 'SecretKeyInvalid', '"..x"'],
  ])('scenario 10 rejects %s once, and reports what to do', async (what, value, reason, said) => {
    const name = `no-${what.replaceAll(' ', '-')}`;
    await c.aws.put(c.path(name), value);
    await c.createPod(name, c.fromAws(name));
    const { type, note } = await c.untilEvent(name, reason);
    expect(type).toBe('Warning');
    expect(note).toContain(said);
    expect(note).not.toContain('correct horse');
    await c.idle();
    expect(await exists(name)).toBe(false);
    expect(c.calls.filter((call) => call.endsWith(c.path(name)))).toHaveLength(1);
    expect(await c.events(name)).toEqual([`Warning ${reason}`]);
  });

  it('scenario 10 reports that a secret has no value yet, and delivers the value later', async () => {
    await c.aws.create(c.path('empty'));
    await c.createPod('empty', c.fromAws('empty'));
    expect((await c.untilEvent('empty', 'SecretFetchFailed')).note).toContain('set a value');
    await c.aws.put(c.path('empty'), { password: 'x' });
    await c.advanceTime(70_000);
    await c.untilSecret('empty');
  });

  it('scenario 10 keeps the last good content while the secret cannot be parsed, and checks only its version', async () => {
    await c.aws.put(c.path('broken'), { password: 'good' });
    await c.createPod('broken', c.fromAws('broken'));
    const before = await c.untilSecret('broken');
    await c.aws.put(c.path('broken'), 'not JSON');
    await c.createPod('broken-2', c.fromAws('broken'));
    await c.untilEvent('broken-2', 'SecretParseFailed');
    const calls = c.calls.length;
    await c.advanceTime(70_000);
    expect(c.calls.slice(calls)).toContain(`DescribeSecret ${c.path('broken')}`);
    expect(c.calls.slice(calls)).not.toContain(`GetSecretValue ${c.path('broken')}`);
    expect(await c.admin.get(Secret, secretKey(c, 'broken'))).toEqual(before);
    await c.aws.put(c.path('broken'), { password: 'better' });
    await c.advanceTime(130_000);
    expect(valuesOf(await c.untilSecret('broken', (secret) => valuesOf(secret).password !== 'good'))).toEqual({
      password: 'better',
    });
  });
});

describe('selected keys', () => {
  beforeAll(() => c.aws.put(c.path('all'), { DB_PASSWORD: 'p', API_KEY: 'k', OTHER: 'o' }));
  const ask = (name: string, more: object): Promise<unknown> =>
    c.createPod(name, c.fromAws('all', { secretName: name, ...more }));

  it.each<[what: string, more: object, values: Readonly<Record<string, string>>]>([
    ['list', { keys: ['DB_PASSWORD', 'API_KEY'] }, { DB_PASSWORD: 'p', API_KEY: 'k' }],
    ['map', { keys: { password: 'DB_PASSWORD', again: 'DB_PASSWORD' } }, { password: 'p', again: 'p' }],
    ['list-missing', { keys: ['API_KEY', 'NONE'], missingKeyPolicy: 'Ignore' }, { API_KEY: 'k' }],
    ['list-optional', { keys: ['API_KEY', 'NONE'], optionalKeys: ['NONE'] }, { API_KEY: 'k' }],
    ['template', { template: { url: 'db://u:{{ data.DB_PASSWORD }}@h' } }, { url: 'db://u:p@h' }],
  ])('scenario 12 selects keys with a %s', async (name, more, values) => {
    await ask(name, more);
    expect(valuesOf(await c.untilSecret(name))).toEqual(values);
  });

  it('scenario 12 reports the missing key, and delivers all keys when the annotation selects others', async () => {
    await ask('missing', { keys: ['API_KEY', 'NONE'] });
    expect((await c.untilEvent('missing', 'SecretKeyMissing')).note).toContain('"NONE" is not in the secret');
    expect(await exists('missing')).toBe(false);
    await c.changeRequest('missing', c.fromAws('all', { secretName: 'missing', keys: ['API_KEY'] }));
    expect(valuesOf(await c.untilSecret('missing'))).toEqual({ API_KEY: 'k' });
  });

  it('scenario 12 delivers the valid entries of a list with one call, and reports the problem of each other entry', async () => {
    await c.aws.put(c.path('list-1'), { a: '1' });
    await c.aws.put(c.path('list-2'), { a: '2' });
    await c.aws.put(c.path('list-text'), 'text');
    const calls = c.calls.length;
    await c.createPod('listing', {
      secrets: [
        c.fromAws('list-1'),
        c.fromAws('list-none'),
        c.fromAws('list-text'),
        { ...c.fromAws('list-strange'), provider: 'gcp' },
        c.fromAws('list-2'),
      ],
    });
    await c.untilSecret('list-1');
    await c.untilSecret('list-2');
    expect((await c.untilEvent('listing', 'SecretFetchFailed')).note).toContain('Secret list-none: ');
    expect((await c.untilEvent('listing', 'SecretParseFailed')).note).toContain('Secret list-text: ');
    expect((await c.untilEvent('listing', 'ProviderUnsupported')).note).toContain('secrets[3].provider');
    await c.untilEvent('listing', 'SecretSyncSuccess', ({ note }) => note?.startsWith('Secret list-1 ') ?? false);
    await c.untilEvent('listing', 'SecretSyncSuccess', ({ note }) => note?.startsWith('Secret list-2 ') ?? false);
    await c.idle();
    const operations = c.calls.slice(calls).map((call) => call.split(' ')[0]);
    expect(operations.filter((operation) => operation === 'BatchGetSecretValue')).toHaveLength(1);
    expect(operations).not.toContain('GetSecretValue');
  });

  it('scenario 12 delivers the specified version, by stage or by id, and stays with it', async () => {
    const first = await c.aws.put(c.path('versions'), { n: '1' });
    const second = await c.aws.put(c.path('versions'), { n: '2' });
    const of = (name: string, more: object) => c.fromAws('versions', { secretName: name, ...more });
    await c.createPod('current', of('current', {}));
    await c.createPod('previous', of('previous', { versionStage: 'AWSPREVIOUS' }));
    await c.createPod('fixed', of('fixed', { versionId: first }));
    const versionOf = ({ metadata }: Secret) => metadata?.annotations?.[SECRET_ANNOTATIONS.version];
    const seen = async (name: string) => {
      const secret = await c.untilSecret(name);
      return [valuesOf(secret).n, versionOf(secret)];
    };
    expect(await seen('current')).toEqual(['2', second]);
    expect(await seen('previous')).toEqual(['1', first]);
    expect(await seen('fixed')).toEqual(['1', first]);

    await c.aws.put(c.path('versions'), { n: '3' });
    await c.createPod('previous-2', of('previous', { versionStage: 'AWSPREVIOUS' }));
    await c.createPod('fixed-2', of('fixed', { versionId: first }));
    await c.untilSecret('previous', (secret) => versionOf(secret) === second);
    await c.untilEvent('fixed-2', 'SecretSyncSuccess');
    expect(await seen('fixed')).toEqual(['1', first]);
  });

  it('scenario 12 reports that a version does not exist', async () => {
    await ask('no-version', { versionStage: 'BLUE' });
    const { note } = await c.untilEvent('no-version', 'SecretFetchFailed');
    expect(note).toContain(`${c.path('all')} (BLUE)`);
    // Moto does not distinguish a missing version from a missing secret.
    expect(note).toMatch(/the (?:version of the )?secret does not exist/);
  });
});
