import { describe, expect, it } from 'vitest';
import type { SecretRef } from '../provider.ts';
import { MockProvider } from './mock-provider.ts';

const ref = (path: string, more: Partial<SecretRef> = {}): SecretRef => ({ path, namespace: 'team-a', ...more });

describe('MockProvider', () => {
  it('returns added secrets as JSON until they are cleared', async () => {
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

  it('reports how to add a missing path', async () => {
    await expect(new MockProvider().fetchSecret(ref('nowhere'))).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringMatching(/no secret at nowhere: add it with `bowline jasm mock set`/) as string,
    });
  });

  it('derives the version from the content, and keeps only the latest one', async () => {
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

  it('returns text and bytes unchanged', async () => {
    const store = new MockProvider();
    store.addSecret('text', 'no JSON');
    store.addSecret('bytes', Uint8Array.of(0, 255));
    expect(await store.fetchSecret(ref('text'))).toMatchObject({ payload: { kind: 'text', text: 'no JSON' } });
    expect(await store.fetchSecret(ref('bytes'))).toMatchObject({
      payload: { kind: 'bytes', bytes: Uint8Array.of(0, 255) },
    });
  });

  it('rejects unsupported fields', async () => {
    const store = new MockProvider();
    store.addSecret('x', { a: '1' });
    await expect(store.fetchSecret(ref('x', { region: 'eu-1' }))).rejects.toMatchObject({ kind: 'refused' });
  });
});
