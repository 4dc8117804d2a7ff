import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { providerContract } from '../contract.test-support.ts';
import type { SecretRef } from '../provider.ts';
import { kubernetes } from './kind.ts';
import { KubernetesProvider } from './kubernetes-provider.ts';

const never = new AbortController().signal;

function provider(client: Client): KubernetesProvider {
  return new KubernetesProvider({ client, clock: systemClock, observe: () => {} });
}

/** source creates a Secret that is shared with the namespaces that the globs match. */
async function source(c: Cluster, name: string, sharedWith?: string): Promise<SecretRef> {
  const annotations = sharedWith === undefined ? undefined : { 'jasm.codnod.io/shared-with': sharedWith };
  const data = { 'tls.key': Buffer.from([0, 255, 10]).toString('base64'), __proto__x: '' };
  await c.admin.create(Secret, {
    metadata: { namespace: c.namespace, name, annotations },
    data,
  });
  return { path: `${c.namespace}/${name}`, namespace: 'team-a' };
}

describe('a Secret of another namespace', () => {
  it('is read unchanged for a namespace that it is shared with, and probed by its metadata', async () => {
    await using c = await cluster();
    const store = provider(c.admin);
    const ref = await source(c, 'shared', 'other, team-*');
    const secret = await store.fetchSecret(ref, never);
    expect(secret).toMatchObject({ provider: 'kubernetes', sourcePath: ref.path });
    expect(secret.payload).toEqual({
      kind: 'entries',
      entries: { 'tls.key': Buffer.from([0, 255, 10]), __proto__x: Buffer.alloc(0) },
    });
    expect(await store.probeVersion(ref, never)).toBe(secret.version);
    const data = { more: Buffer.from('x').toString('base64') };
    await c.admin.patch(Secret, { namespace: c.namespace, name: 'shared' }, { type: 'merge', body: { data } });
    expect(await store.probeVersion(ref, never)).not.toBe(secret.version);
  });

  it('is reported as missing to all other namespaces', async () => {
    await using c = await cluster();
    const store = provider(c.admin);
    const refs = [
      await source(c, 'private'),
      await source(c, 'empty', ''),
      await source(c, 'for-others', 'team,team-b, team-a-*'),
      { path: `${c.namespace}/missing`, namespace: 'team-a' },
      { path: 'no-such-namespace/missing', namespace: 'team-a' },
    ];
    for (const ref of refs) {
      const expected = {
        kind: 'not-found',
        code: 'NotFound',
        message:
          `the Secret ${ref.path} does not exist or is not shared with the namespace team-a: create it, or ask its owner to add the ` +
          'annotation jasm.codnod.io/shared-with: team-a',
      };
      await expect(store.fetchSecret(ref, never)).rejects.toMatchObject(expected);
      await expect(store.probeVersion(ref, never)).rejects.toMatchObject(expected);
    }
  });

  it('is denied, with what to allow, if the operator has no permission', async () => {
    await using c = await cluster();
    const ref = await source(c, 'shared', '*');
    const { client } = await c.serviceAccount({ rules: [] });
    await expect(provider(client).fetchSecret(ref, never)).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining(`may not get secrets in the namespace ${c.namespace}`) as string,
    });
    const undeclared = c.admin.checked(() => {
      throw new BowlineError('BOWLINE_UNDECLARED_PERMISSION', 'not declared');
    });
    await expect(provider(undeclared).probeVersion(ref, never)).rejects.toMatchObject({ kind: 'denied' });
  });
});

providerContract('the cluster', {
  // A Secret that is not shared appears not to exist, and the API server cannot be made to fail here.
  lacks: ['denial', 'failure', 'hanging'],
  invalidPaths: ['', 'x', 'a/b/c', 'Team/x', 'team/..'],
  names: (path) => kubernetes.names(path, undefined),
  setup: async () => {
    const c = await cluster();
    const observed: string[] = [];
    const keyOf = ({ path }: SecretRef) => ({ namespace: c.namespace, name: path.split('/')[1] ?? '' });
    const put = async (ref: SecretRef, fields: Readonly<Record<string, string>>) => {
      const encoded = Object.entries(fields).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      const data = Object.fromEntries(encoded) as Record<string, string>;
      const annotations = { 'jasm.codnod.io/shared-with': 'team-a' };
      if (await c.admin.find(Secret, keyOf(ref))) {
        await c.admin.patch(Secret, keyOf(ref), { type: 'merge', body: { data } });
      } else await c.admin.create(Secret, { metadata: { ...keyOf(ref), annotations }, data });
    };
    return {
      provider: new KubernetesProvider({
        client: c.admin,
        clock: systemClock,
        observe: ({ operation, code }) => observed.push(`${operation} ${code}`),
      }),
      observed,
      credentials: [],
      ref: (word) => ({ path: `${c.namespace}/${word}`, namespace: 'team-a' }),
      put,
      putEmpty: (ref) => put(ref, {}),
      remove: (ref) => c.admin.delete(Secret, keyOf(ref)),
      [Symbol.asyncDispose]: () => c[Symbol.asyncDispose](),
    };
  },
});
