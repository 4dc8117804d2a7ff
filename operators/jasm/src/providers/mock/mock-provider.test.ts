import { describe, expect, it } from 'vitest';
import type { SecretRef } from '../provider.ts';
import { MockProvider } from './mock-provider.ts';

const ref = (path: string, more: Partial<SecretRef> = {}): SecretRef => ({ path, namespace: 'team-a', ...more });

describe('MockProvider', () => {
  it('gives what was added as JSON, until it is cleared', async () => {
    const store = new MockProvider();
    store.addSecret('/prod/db', { user: 'app', password: 'x' });
    expect(await store.fetchSecret(ref('/prod/db'))).toMatchObject({
      provider: 'mock',
      sourcePath: '/prod/db',
      payload: { kind: 'text', text: '{"user":"app","password":"x"}' },
    });
    store.clear();
    await expect(store.fetchSecret(ref('/prod/db'))).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('refuses a path that it does not have with how to add it', async () => {
    await expect(new MockProvider().fetchSecret(ref('nowhere'))).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringMatching(/no secret at nowhere: add it with `bowline jasm mock set`/) as string,
    });
  });

  it('names a version after its content, and keeps the latest only', async () => {
    const store = new MockProvider();
    store.addSecret('x', { a: '1' });
    const { version = '' } = await store.fetchSecret(ref('x'));
    expect(await store.probeVersion(ref('x', { versionId: version }))).toBe(version);
    store.addSecret('x', { a: '2' });
    expect(await store.probeVersion(ref('x'))).not.toBe(version);
    await expect(store.probeVersion(ref('x', { versionId: version }))).rejects.toMatchObject({ kind: 'not-found' });
    store.addSecret('x', { a: '1' });
    expect(await store.probeVersion(ref('x'))).toBe(version);
  });

  it('gives texts and bytes as they are', async () => {
    const store = new MockProvider();
    store.addSecret('text', 'no JSON');
    store.addSecret('bytes', Uint8Array.of(0, 255));
    expect(await store.fetchSecret(ref('text'))).toMatchObject({ payload: { kind: 'text', text: 'no JSON' } });
    expect(await store.fetchSecret(ref('bytes'))).toMatchObject({
      payload: { kind: 'bytes', bytes: Uint8Array.of(0, 255) },
    });
  });

  it('refuses what it does not know rather than answering something else', async () => {
    const store = new MockProvider();
    store.addSecret('x', { a: '1' });
    await expect(store.fetchSecret(ref('x', { region: 'eu-1' }))).rejects.toMatchObject({ kind: 'refused' });
  });
});
