import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { ensureContent } from '@bowline/runtime/writing';
import { expect, it } from 'vitest';
import { contentHash } from '../content/content-hash.ts';
import { copies } from './copies.ts';
import { desiredCopy } from './desired-copy.ts';

it('stores copies with the same labels and annotations as existing copies in clusters', async () => {
  await using c = await cluster({ prefix: 'copy' });
  const key = { namespace: c.namespace, name: 'settings' };
  const tools = { live: c.admin, clock: systemClock, fieldManager: 'test', lookUp: () => undefined };
  const content = { data: { color: 'red' }, binaryData: { blob: 'AA==' } };
  const source = { metadata: { namespace: 'team-a', name: 'settings', uid: 'source-uid' }, content };
  const sync = { metadata: { namespace: 'team-a', name: 'sync', uid: 'sync-uid' } };
  const write = (base?: string) => {
    const desired = desiredCopy(sync, source, content, { labels: { tag: '1' }, annotations: { note: 'n' } }, base);
    return ensureContent(tools, copies, key, desired, { claim: () => 'ours' });
  };
  const { writtenAt } = await write();
  const hash = contentHash(content);
  const { metadata, data, binaryData } = await c.admin.get(ConfigMap, key);
  expect({ data, binaryData }).toEqual(content);
  expect(metadata?.labels).toEqual({
    tag: '1',
    'app.kubernetes.io/managed-by': 'configmapsync',
    'sync.bowline.dev/sync-namespace': 'team-a',
    'sync.bowline.dev/sync-name': 'sync',
  });
  const annotations = {
    note: 'n',
    'sync.bowline.dev/sync-uid': 'sync-uid',
    'sync.bowline.dev/source': 'team-a/settings',
    'sync.bowline.dev/source-uid': 'source-uid',
    'sync.bowline.dev/source-hash': hash,
    'sync.bowline.dev/applied-hash': hash,
    'sync.bowline.dev/managed-keys': 'blob,color',
    'sync.bowline.dev/managed-metadata': '{"labels":["tag"],"annotations":["note"]}',
    'sync.bowline.dev/synced-at': writtenAt,
  };
  expect(metadata?.annotations).toEqual(annotations);
  expect(await write('{"d/color":"x"}')).toMatchObject({ outcome: 'marked', writtenAt });
  const { 'sync.bowline.dev/managed-keys': _, ...others } = annotations;
  const bothWays = await c.admin.get(ConfigMap, key);
  expect(bothWays.metadata?.annotations).toEqual({ ...others, 'sync.bowline.dev/base': '{"d/color":"x"}' });
});
