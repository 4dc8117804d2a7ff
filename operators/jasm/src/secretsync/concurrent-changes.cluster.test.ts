import { Secret } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { expect, it } from 'vitest';
import { wrapClient } from '../../../../test/support/wrap-client.ts';
import { SECRET_ANNOTATIONS } from '../api/names.ts';
import { entry, jasmCluster, valuesOf } from '../testing/jasm-cluster.test-support.ts';

/** mutating returns a client whose Secrets are changed before they are stored, as by a mutating webhook. */
function mutating(client: Client): Client {
  return wrapClient(client, (wrapped) => ({
    create: (kind, object, options) =>
      wrapped.create(kind, kind.kind === Secret.kind ? withKey(object) : object, options),
  }));
}

function withKey<T>(object: T): T {
  return { ...object, data: { ...(object as Secret).data, injected: 'eA==' } };
}

it('stops writing a Secret that admission changes, and reports it', async () => {
  await using c = await jasmCluster({ wrapClient: mutating });
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('web', entry('/a', 'db'));
  expect((await c.untilEvent('web', 'SecretSyncFailed')).note).toContain('changed while it is being written');
  await c.idle();
  expect(c.calls).toEqual(['fetchSecret /a']);
  // Patches are not changed here: a later retry succeeds.
  await c.advanceTime(65_000, 13_000);
  await c.untilSecret('db', (secret) => valuesOf(secret).injected === undefined);
});

it('repairs a Secret that another client keeps changing with increasing delays', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('web', entry('/a', 'db'));
  await c.untilSecret('db');
  const key = { namespace: c.namespace, name: 'db' };
  const edit = (): Promise<Secret> => c.admin.patch(Secret, key, { type: 'merge', body: { data: { from: 'eA==' } } });
  for (let times = 0; times < 4; times++) {
    await edit();
    await c.untilSecret('db', (secret) => valuesOf(secret).from === 'a');
  }
  await c.idle();
  const calls = c.calls.length;
  const { metadata } = await edit();
  // A later request is served, so this run is over.
  await c.createPod('later', entry('/a', 'other'));
  await c.untilSecret('other');
  await c.idle();
  expect((await c.admin.get(Secret, key)).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  expect(c.calls.length).toBeLessThanOrEqual(calls + 1);
  await c.advanceTime(1_000);
  await c.untilSecret('db', (secret) => valuesOf(secret).from === 'a');
});

it('restores annotations that another client keeps removing with increasing delays, without calling a store', async () => {
  await using c = await jasmCluster();
  c.store.addSecret('/a', { from: 'a' });
  await c.createPod('web', entry('/a', 'db'));
  await c.untilSecret('db');
  const key = { namespace: c.namespace, name: 'db' };
  const hash = SECRET_ANNOTATIONS.requestHash;
  const isMarked = ({ metadata }: Secret): boolean => metadata?.annotations?.[hash] !== undefined;
  const strip = (): Promise<Secret> =>
    c.admin.patch(Secret, key, { type: 'merge', body: { metadata: { annotations: { [hash]: null } } } });
  for (let times = 0; times < 5; times++) {
    await strip();
    await c.untilSecret('db', isMarked);
  }
  await c.idle();
  const calls = c.calls.length;
  await strip();
  // A later request is served, so this run is over.
  await c.createPod('later', entry('/b', 'other'));
  await c.untilEvent('later', 'SecretFetchFailed');
  await c.idle();
  expect(isMarked(await c.admin.get(Secret, key))).toBe(false);
  expect(c.calls.slice(calls)).toEqual(['fetchSecret /b']);
  await c.advanceTime(1_000);
  await c.untilSecret('db', isMarked);
});
