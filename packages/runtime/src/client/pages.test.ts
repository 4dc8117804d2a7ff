import { ConfigMap } from '@bowline/kubernetes';
import { expect, test } from 'vitest';
import { isExpired } from '../errors/api-error.ts';
import type { PagesOptions } from './client.ts';
import { createClient } from './create-client.ts';
import { ScriptedTransport } from './scripted-transport.test-support.ts';

const page = (next: string, ...names: string[]) => ({
  body: { metadata: { resourceVersion: '7', continue: next }, items: names.map((name) => ({ metadata: { name } })) },
});
const expired = (next?: string) => ({
  status: 410,
  body: { kind: 'Status', reason: 'Expired', message: 'too old', code: 410, metadata: { continue: next } },
});

async function namesOf(transport: ScriptedTransport, options?: PagesOptions): Promise<(string | undefined)[]> {
  const names: (string | undefined)[] = [];
  for await (const { items } of createClient({ transport }).pages(ConfigMap, options)) {
    names.push(...items.map(({ metadata }) => metadata?.name));
  }
  return names;
}

test('reads each page from where the previous one ended', async () => {
  const transport = new ScriptedTransport(page('x', 'a', 'b'), page('y', 'c'), page('', 'd'));
  expect(await namesOf(transport, { namespace: 'n', labelSelector: 'l', pageSize: 2 })).toEqual(['a', 'b', 'c', 'd']);
  expect(transport.requests.map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/n/configmaps?labelSelector=l&limit=2',
    '/api/v1/namespaces/n/configmaps?labelSelector=l&limit=2&continue=x',
    '/api/v1/namespaces/n/configmaps?labelSelector=l&limit=2&continue=y',
  ]);
});

test('requests a page only after the previous one was consumed, and none after the reader stops', async () => {
  const transport = new ScriptedTransport(page('x', 'a'), page('', 'b'));
  for await (const { items } of createClient({ transport }).pages(ConfigMap)) {
    expect(items).toHaveLength(1);
    expect(transport.requests).toHaveLength(1);
    break;
  }
  expect(transport.requests).toHaveLength(1);
  expect(transport.requests[0]?.path).toBe('/api/v1/configmaps?limit=500');
});

test('throws when the continue token has expired', async () => {
  const transport = new ScriptedTransport(page('x', 'a'), expired('z'));
  await expect(namesOf(transport)).rejects.toSatisfy(isExpired);
});

test('continues with the newest state with onExpired: continue', async () => {
  const transport = new ScriptedTransport(page('x', 'a'), expired('z'), page('', 'b'));
  expect(await namesOf(transport, { onExpired: 'continue' })).toEqual(['a', 'b']);
  expect(transport.requests[2]?.path).toContain('continue=z');
});

test('throws when the server returns no token to continue with', async () => {
  const transport = new ScriptedTransport(page('x', 'a'), expired());
  await expect(namesOf(transport, { onExpired: 'continue' })).rejects.toSatisfy(isExpired);
});

test.each([0, -1, 1.5])('rejects a page size of %s', async (pageSize) => {
  await expect(namesOf(new ScriptedTransport(), { pageSize })).rejects.toMatchObject({
    code: 'BOWLINE_CLIENT_INVALID_REQUEST',
  });
});
