import { cluster } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import type { SecretRef } from '../provider.ts';
import { ClusterMock } from './cluster-mock.ts';
import { MOCK_SECRET, mockSecretData } from './mock-values.ts';

const never = new AbortController().signal;

it('reads the current values of the mock Secret, without caching', async () => {
  await using c = await cluster();
  const { admin: client, namespace } = c;
  const store = new ClusterMock({ client, clock: systemClock, observe: () => {}, namespace });
  const ref: SecretRef = { path: '/prod/db', namespace: 'team-a' };
  await expect(store.fetchSecret(ref, never)).rejects.toMatchObject({ kind: 'not-found' });

  const metadata = { namespace, name: MOCK_SECRET };
  const holding = (password: string) => mockSecretData(new Map([['/prod/db', { password }]]));
  await client.create(Secret, { metadata, data: holding('one') });
  const first = await store.fetchSecret(ref, never);
  expect(first.payload).toEqual({ kind: 'text', text: '{"password":"one"}' });
  expect(await store.probeVersion(ref, never)).toBe(first.version);

  await client.patch(Secret, metadata, { type: 'merge', body: { data: holding('two') } });
  expect(await store.probeVersion(ref, never)).not.toBe(first.version);

  const broken = Buffer.from('{hidden').toString('base64');
  await client.patch(Secret, metadata, { type: 'merge', body: { data: { 'values.json': broken } } });
  await expect(store.fetchSecret(ref, never)).rejects.toMatchObject({
    kind: 'refused',
    message: expect.not.stringContaining('hidden') as string,
  });
});
