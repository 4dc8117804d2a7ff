import { Deployment, Pod, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGED_BY, POD_ANNOTATIONS, SECRET_ANNOTATIONS } from '../api/names.ts';
import { podSpec, secretKey, textOf, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

/** base64 returns a value as stored in a Secret. */
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * synced creates a pod `<name>` that requests the secret `<name>` as the Secret `<name>`, and waits until everything is
 * done.
 */
async function synced(name: string): Promise<Secret> {
  await c.aws.put(c.path(name), { password: `of ${name}` });
  await c.createPod(name, c.fromAws(name));
  await c.untilEvent(name, 'SecretSyncSuccess');
  return c.untilSecret(name);
}

/** change merges something into a Secret, as another client. */
const change = (name: string, body: object): Promise<Secret> =>
  c.admin.patch(Secret, secretKey(c, name), { type: 'merge', body });

const isChanged =
  ({ metadata: before }: Secret) =>
  ({ metadata }: Secret): boolean =>
    metadata?.resourceVersion !== before?.resourceVersion;

describe('scenario 11', () => {
  it('scenario 11 does not change a Secret that is not ours, reports how to transfer it, and reads no source for it', async () => {
    await c.aws.put(c.path('theirs'), { password: 'ours' });
    const key = secretKey(c, 'theirs');
    const theirs = await c.admin.create(Secret, { metadata: key, data: { password: base64('theirs') } });
    await c.createPod('theirs', c.fromAws('theirs'));
    const { type, note } = await c.untilEvent('theirs', 'SecretConflict');
    expect(type).toBe('Warning');
    expect(note).toContain(`label it ${MANAGED_BY}=caronte`);
    await c.idle();
    expect(await c.admin.get(Secret, key)).toEqual(theirs);
    expect(c.callsFor('theirs')).toEqual([]);
    expect(await c.events('theirs')).toEqual(['Warning SecretConflict']);
  });

  it.each(['caronte', 'jasm'])(
    'scenario 11 takes over a Secret that is labelled %s, with all its content',
    async (manager) => {
      const name = `of-${manager}`;
      await c.aws.put(c.path(name), { password: 'new' });
      await c.admin.create(Secret, {
        metadata: { ...secretKey(c, name), labels: { [MANAGED_BY]: manager, team: 'shop' } },
        data: { password: base64('old'), left: base64('over') },
      });
      await c.createPod(name, c.fromAws(name));
      const taken = await c.untilSecret(name, ({ data }) => data?.left === undefined);
      expect(valuesOf(taken)).toEqual({ password: 'new' });
      expect(taken.metadata?.labels).toMatchObject({ [MANAGED_BY]: 'caronte', team: 'shop' });
      expect(taken.metadata?.annotations?.[SECRET_ANNOTATIONS.sourcePath]).toBe(c.path(name));
    },
  );

  it.each<[what: string, body: object]>([
    ['a value', { data: { password: base64('forged') } }],
    ['an additional key', { data: { extra: base64('x') } }],
    ['no content at all', { data: null }],
  ])('scenario 11 repairs a Secret that another client gave %s', async (what, body) => {
    const name = `edited-${what.replaceAll(' ', '-')}`;
    const before = await synced(name);
    const edited = await change(name, body);
    const repaired = await c.untilSecret(name, isChanged(edited));
    expect(valuesOf(repaired)).toEqual(valuesOf(before));
    const { note } = await c.untilEvent(name, 'SecretSyncSuccess', (event) => event.note?.includes('changed') ?? false);
    expect(note).toBe(
      `Secret ${name} was changed by another client and was restored from aws-secretsmanager ${c.path(name)}`,
    );
  });

  it('scenario 11 repairs changes made while the operator was not running', async () => {
    const before = await synced('away');
    await c.stop();
    const edited = await change('away', { data: { password: base64('forged') } });
    await c.restart();
    expect(valuesOf(await c.untilSecret('away', isChanged(edited)))).toEqual(valuesOf(before));
  });

  it('scenario 11 recreates a Secret that another client deleted, with one read', async () => {
    const before = await synced('deleted');
    // A value that was just read is kept for a while.
    await c.advanceTime(15_000);
    const calls = c.callsFor('deleted').length;
    await c.admin.delete(Secret, secretKey(c, 'deleted'));
    const after = await c.untilSecret('deleted', ({ metadata }) => metadata?.uid !== before.metadata?.uid);
    expect(valuesOf(after)).toEqual(valuesOf(before));
    await c.idle();
    expect(c.callsFor('deleted').slice(calls)).toEqual(['GetSecretValue']);
  });

  it('scenario 11 releases a Secret whose label is removed', async () => {
    await synced('taken-back');
    const back = await change('taken-back', {
      metadata: { labels: { [MANAGED_BY]: null } },
      data: { password: base64('theirs') },
    });
    await c.untilEvent('taken-back', 'SecretConflict');
    await c.idle();
    expect(await c.admin.get(Secret, secretKey(c, 'taken-back'))).toEqual(back);
  });

  it('scenario 11 reports that a type cannot be changed, keeps the Secret, and creates the other one when it is deleted', async () => {
    await c.aws.put(c.path('typed'), { username: 'shop', password: 'correct horse' });
    await c.createPod('typed', c.fromAws('typed'));
    const opaque = await c.untilSecret('typed');
    await c.changeRequest('typed', c.fromAws('typed', { type: 'kubernetes.io/basic-auth' }));
    const { note } = await c.untilEvent('typed', 'SecretSyncFailed');
    expect(note).toContain('Opaque');
    expect(note).toContain('kubernetes.io/basic-auth');
    await c.idle();
    expect(await c.admin.get(Secret, secretKey(c, 'typed'))).toEqual(opaque);
    await c.admin.delete(Secret, secretKey(c, 'typed'));
    await c.untilSecret('typed', ({ type }) => type === 'kubernetes.io/basic-auth');
  });

  it('scenario 11 does not change an immutable Secret, and reports a request for different content', async () => {
    await c.aws.put(c.path('immutable'), { password: 'first' });
    await c.createPod('immutable', c.fromAws('immutable', { immutable: true }));
    const first = await c.untilSecret('immutable', ({ immutable }) => immutable === true);
    await c.aws.put(c.path('immutable'), { password: 'second' });
    await c.createPod('immutable-2', c.fromAws('immutable', { immutable: true }));
    await c.untilEvent('immutable-2', 'SecretSyncSuccess');
    await c.createPod('immutable-3', c.fromAws('immutable', { keys: ['password'], immutable: true }));
    await c.untilEvent('immutable-3', 'SecretConflict');
    expect(await c.admin.get(Secret, secretKey(c, 'immutable'))).toEqual(first);
  });
});

describe('scenario 13', () => {
  beforeAll(async () => {
    await c.aws.put(c.path('one'), { from: 'one' });
    await c.aws.put(c.path('two'), { from: 'two' });
  });
  const holds = (from: string) => (secret: Secret) => valuesOf(secret).from === from;

  it('scenario 13 gives a Secret to the first of two workloads, and to the second when the first is deleted', async () => {
    await c.createPod('first', c.fromAws('one', { secretName: 'contested' }));
    const before = await c.untilSecret('contested', holds('one'));
    await c.createPod('second', c.fromAws('two', { secretName: 'contested' }));
    const { type, note } = await c.untilEvent('second', 'SecretConflict');
    expect([type, note]).toEqual(['Warning', expect.stringContaining('is used by Pod/first') as string]);
    // The holder keeps it, even after a restart, when the order of arrival is unknown.
    await c.restart();
    await c.idle();
    expect(await c.untilSecret('contested')).toEqual(before);
    expect(c.callsFor('two')).toEqual([]);
    await c.admin.delete(Pod, secretKey(c, 'first'));
    const after = await c.untilSecret('contested', holds('two'));
    expect(after.metadata).toMatchObject({
      uid: before.metadata?.uid,
      annotations: { [SECRET_ANNOTATIONS.sourcePath]: c.path('two'), [SECRET_ANNOTATIONS.askedBy]: 'Pod/second' },
    });
    await c.untilEvent('second', 'SecretSyncSuccess');
  });

  it('scenario 13 shares a Secret between workloads that request the same content', async () => {
    await c.createPod('alike-1', c.fromAws('one', { secretName: 'alike' }));
    const { metadata } = await c.untilSecret('alike');
    await c.createPod('alike-2', `secretName: alike\npath: ${c.path('one')}\nprovider: aws-secretsmanager`);
    await c.untilEvent('alike-2', 'SecretSyncSuccess');
    await c.admin.delete(Pod, secretKey(c, 'alike-1'));
    await c.idle();
    expect((await c.untilSecret('alike')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  });

  it('scenario 13 follows the new template of a Deployment while old pods still exist', async () => {
    const template = (name: string) => ({
      metadata: {
        labels: { app: 'rolling' },
        annotations: { [POD_ANNOTATIONS.secretSync]: textOf(c.fromAws(name, { secretName: 'rolling' })) },
      },
      spec: podSpec(),
    });
    const key = secretKey(c, 'rolling');
    await c.admin.create(Deployment, {
      metadata: key,
      spec: { replicas: 2, selector: { matchLabels: { app: 'rolling' } }, template: template('one') },
    });
    await c.untilSecret('rolling', holds('one'));
    const podsOf = { labelSelector: 'app=rolling' };
    await c.untilList(Pod, podsOf, (pods) => pods.length === 2);
    await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { template: template('two') } } });
    const { metadata } = await c.untilSecret('rolling', holds('two'));
    expect(metadata?.annotations?.[SECRET_ANNOTATIONS.askedBy]).toBe('Deployment.apps/rolling');
    const pods = await c.untilList(Pod, podsOf, (all) => new Set(all.map(templateOf)).size === 2);
    await c.idle();
    for (const { metadata: pod } of pods) {
      expect(await c.events(pod?.name ?? '')).not.toContain('Warning SecretConflict');
    }
  });
});

function templateOf({ metadata }: Pod): string | undefined {
  return metadata?.labels?.['pod-template-hash'];
}
