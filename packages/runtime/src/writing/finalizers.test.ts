import { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { deletionOf } from './deletion.ts';
import { addFinalizer } from './finalizers.ts';

describe('addFinalizer', () => {
  it('sends the uid and resourceVersion that it was decided on', async () => {
    const transport = new ScriptedTransport({ body: {} });
    const object = {
      metadata: { namespace: 'default', name: 'a', uid: 'u', resourceVersion: '5', finalizers: ['x.test/a'] },
    };
    await addFinalizer(createClient({ transport }), ConfigMap, object, 'example.com/cleanup', { fieldManager: 'm' });
    expect(transport.sent(0)).toEqual({
      metadata: { uid: 'u', resourceVersion: '5', finalizers: ['x.test/a', 'example.com/cleanup'] },
    });
  });

  it('rejects an object without uid or resourceVersion: the finalizer might be added to another one', async () => {
    const client = createClient({ transport: new ScriptedTransport() });
    for (const identity of [{ uid: 'u' }, { resourceVersion: '5' }]) {
      const object = { metadata: { namespace: 'default', name: 'a', ...identity } };
      await expect(addFinalizer(client, ConfigMap, object, 'a.test/b', { fieldManager: 'm' })).rejects.toMatchObject({
        code: 'BOWLINE_WRITE_INVALID',
      });
    }
  });

  it.each(['cleanup', '/cleanup', 'example.com/', 'Example.com/a', 'example.com/a b'])(
    'refuses the name %s',
    async (name) => {
      const client = createClient({ transport: new ScriptedTransport() });
      const object = { metadata: { namespace: 'default', name: 'a' } };
      await expect(addFinalizer(client, ConfigMap, object, name, { fieldManager: 'm' })).rejects.toMatchObject({
        code: 'BOWLINE_FINALIZER_INVALID',
      });
    },
  );
});

describe('deletionOf', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  it('prefers orphaning, which was requested explicitly', () => {
    const metadata = { deletionTimestamp, finalizers: ['foregroundDeletion', 'orphan'] };
    expect(deletionOf({ metadata })).toEqual({ at: Date.UTC(2026, 0), mode: 'orphan' });
  });
});
