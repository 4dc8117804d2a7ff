import { Pod, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONSENT_ANNOTATIONS, MANAGED_BY, SECRET_ANNOTATIONS } from '../api/names.ts';
import { secretKey, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

const CONSENT = { [CONSENT_ANNOTATIONS.mergeAllowed]: 'true' };

let c: Scenario;
beforeAll(async () => {
  c = await startScenario({ config: { allowDeletion: true } });
});
afterAll(() => c[Symbol.asyncDispose]());

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** theirs creates a Secret of another owner with the key `theirs`, into which keys may be merged. */
const theirs = (name: string, more: Readonly<Record<string, string>> = {}): Promise<Secret> =>
  c.admin.create(Secret, {
    metadata: { ...secretKey(c, name), annotations: CONSENT },
    data: { theirs: base64('theirs'), ...more },
  });

const change = (name: string, body: object): Promise<Secret> =>
  c.admin.patch(Secret, secretKey(c, name), { type: 'merge', body });

/** merged creates a pod that merges the values of a source into such a Secret, both called `name`. */
async function merged(name: string, values: Readonly<Record<string, string>>): Promise<Secret> {
  await c.aws.put(c.path(name), values);
  await theirs(name);
  await c.createPod(name, c.fromAws(name, { creationPolicy: 'Merge' }));
  await c.untilEvent(name, 'SecretSyncSuccess');
  return c.untilSecret(name);
}

const holds =
  (values: Readonly<Record<string, string>>) =>
  (secret: Secret): boolean =>
    JSON.stringify(Object.entries(valuesOf(secret)).sort()) === JSON.stringify(Object.entries(values).sort());

it('scenario 12 merges keys into a Secret of another owner, follows the source, and repairs only its own keys', async () => {
  const first = await merged('followed', { a: '1', b: '2' });
  expect(valuesOf(first)).toEqual({ theirs: 'theirs', a: '1', b: '2' });
  expect(first.metadata?.labels?.[MANAGED_BY]).toBeUndefined();
  await change('followed', { data: { a: base64('forged'), b: null, theirs: base64('changed'), more: base64('more') } });
  await c.untilSecret('followed', holds({ theirs: 'changed', more: 'more', a: '1', b: '2' }));
  await c.aws.put(c.path('followed'), { b: '3', c: '4' });
  await c.force('followed', '1');
  const last = await c.untilSecret('followed', holds({ theirs: 'changed', more: 'more', b: '3', c: '4' }));
  expect(last.metadata?.annotations?.[SECRET_ANNOTATIONS.managedKeys]).toBe('b,c');
});

it('scenario 12 stops changing a Secret whose consent is withdrawn', async () => {
  await merged('withdrawn', { a: '1' });
  await change('withdrawn', { metadata: { annotations: { [CONSENT_ANNOTATIONS.mergeAllowed]: null } } });
  await c.aws.put(c.path('withdrawn'), { a: '2' });
  await c.force('withdrawn', '1');
  expect((await c.untilEvent('withdrawn', 'SecretConflict')).note).toContain(CONSENT_ANNOTATIONS.mergeAllowed);
  expect(valuesOf(await c.untilSecret('withdrawn'))).toEqual({ theirs: 'theirs', a: '1' });
  await change('withdrawn', { metadata: { annotations: CONSENT } });
  await c.untilSecret('withdrawn', holds({ theirs: 'theirs', a: '2' }));
});

it('scenario 12 does not change a key that existed before', async () => {
  await c.aws.put(c.path('taken'), { a: '1', theirs: 'ours' });
  const before = await theirs('taken');
  await c.createPod('taken', c.fromAws('taken', { creationPolicy: 'CreateOrMerge' }));
  expect((await c.untilEvent('taken', 'SecretConflict')).note).toContain('already has the keys theirs');
  expect(await c.untilSecret('taken')).toEqual(before);
});

it('scenario 12 waits for the Secret with Merge, and creates one with CreateOrMerge', async () => {
  await c.aws.put(c.path('waits'), { a: '1' });
  await c.createPod('waits', c.fromAws('waits', { creationPolicy: 'Merge' }));
  expect((await c.untilEvent('waits', 'SecretSyncFailed')).note).toContain('creationPolicy Merge does not create it');
  await theirs('waits');
  await c.untilSecret('waits', holds({ theirs: 'theirs', a: '1' }));
  await c.createPod('makes', c.fromAws('waits', { secretName: 'makes', creationPolicy: 'CreateOrMerge' }));
  const made = await c.untilSecret('makes', holds({ a: '1' }));
  expect(made.metadata?.labels?.[MANAGED_BY]).toBe('caronte');
});

it('scenario 12 merges again into a Secret that another client recreated', async () => {
  const { metadata } = await merged('anew', { a: '1' });
  await c.admin.delete(Secret, secretKey(c, 'anew'));
  await c.untilEvent('anew', 'SecretSyncFailed');
  await theirs('anew', { other: base64('o') });
  const again = await c.untilSecret('anew', holds({ theirs: 'theirs', other: 'o', a: '1' }));
  expect(again.metadata?.uid).not.toBe(metadata?.uid);
});

it('scenario 14 keeps the keys in a Secret of another owner when no pod requests them any more', async () => {
  const before = await merged('left', { a: '1' });
  await c.admin.delete(Pod, secretKey(c, 'left'));
  await c.aws.put(c.path('fence'), { a: 'b' });
  await c.createPod('fence', c.fromAws('fence'));
  await c.untilEvent('fence', 'SecretSyncSuccess');
  await c.advanceTime(3_600_000);
  expect(await c.untilSecret('left')).toEqual(before);
});
