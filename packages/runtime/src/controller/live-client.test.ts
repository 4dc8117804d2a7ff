import { Pod, Secret, TokenReview } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { RecordingClient, type WriteRecorder } from './live-client.ts';

const key = { namespace: 'default', name: 'a' };
const stored = (kind: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { ...key, uid: 'uid-1', resourceVersion: '7', ...more },
});

function setUp(...answers: ScriptedResponse[]) {
  const transport = new ScriptedTransport(...answers);
  const recorded: string[] = [];
  const recorder: WriteRecorder = {
    recordWrite: (resource, object) => void recorded.push(`write ${resource.kind} ${object.metadata?.resourceVersion}`),
    recordDelete: (resource, { name }, { uid }) => void recorded.push(`delete ${resource.kind} ${name} ${uid}`),
  };
  const abort = new AbortController();
  const live = new RecordingClient(createClient({ transport }), recorder, abort.signal);
  return { live, recorded, abort, transport };
}

describe('RecordingClient', () => {
  it('records the responses of create, update, patch and status writes, not of a dry run or another subresource', async () => {
    const { live, recorded } = setUp(...Array.from({ length: 6 }, () => ({ body: stored('Secret') })));
    const secret = { metadata: { ...key, resourceVersion: '6' } };
    const patch = { type: 'merge', body: {} } as const;
    await live.create(Secret, { metadata: key });
    await live.update(Secret, secret);
    await live.patch(Secret, key, patch);
    await live.patch(Secret, key, patch, { subresource: 'status' });
    expect(recorded.splice(0)).toEqual(Array.from({ length: 4 }, () => 'write Secret 7'));
    await live.update(Secret, secret, { dryRun: true });
    await live.patch(Secret, key, patch, { subresource: 'scale' });
    expect(recorded).toEqual([]);
  });

  it('writes under the field manager of the controller, unless the call or the client names another', async () => {
    const managers = async (own: string | undefined, given: string | undefined): Promise<readonly unknown[]> => {
      const answers = Array.from({ length: 3 }, () => ({ body: stored('Secret') }));
      const transport = new ScriptedTransport(...answers);
      const client = createClient({ transport, fieldManager: own });
      const recorder = { recordWrite: () => undefined, recordDelete: () => undefined };
      const live = new RecordingClient(client, recorder, new AbortController().signal, 'bowline-a-b');
      await live.create(Secret, { metadata: key }, { fieldManager: given });
      await live.update(Secret, { metadata: { ...key, resourceVersion: '6' } }, { fieldManager: given });
      await live.patch(Secret, key, { type: 'merge', body: {} }, { fieldManager: given });
      return transport.requests.map(({ path }) => new URL(path, 'http://a').searchParams.get('fieldManager'));
    };
    expect(await managers(undefined, undefined)).toEqual(Array(3).fill('bowline-a-b'));
    expect(await managers(undefined, 'mine')).toEqual(Array(3).fill('mine'));
    expect(await managers('kube-controller-manager', undefined)).toEqual(Array(3).fill('kube-controller-manager'));
  });

  it('does not count the creation of a review as a write', async () => {
    const { live } = setUp({ body: { kind: 'TokenReview', status: { authenticated: true } } });
    expect(await live.create(TokenReview, { spec: { token: 't' } })).toMatchObject({ status: { authenticated: true } });
    expect(live.hasWritten).toBe(false);
  });

  it('reports whether a write was attempted', async () => {
    const { live } = setUp({ body: stored('Secret') }, { body: stored('Secret') }, { error: new Error('cut off') });
    await live.get(Secret, key);
    await live.create(Secret, { metadata: key }, { dryRun: true });
    expect(live.hasWritten).toBe(false);
    await expect(live.create(Secret, { metadata: key })).rejects.toThrow('cut off');
    expect(live.hasWritten).toBe(true);
  });

  it.each([
    [
      'a Status',
      { apiVersion: 'v1', kind: 'Status', status: 'Success', details: { uid: 'uid-1' } },
      'delete Pod a uid-1',
    ],
    ['an object that finalizers hold', stored('Pod', { deletionTimestamp: 'now', finalizers: ['x/y'] }), 'write Pod 7'],
    [
      'an object in its grace period',
      stored('Pod', { deletionTimestamp: 'now', deletionGracePeriodSeconds: 30 }),
      'write Pod 7',
    ],
    [
      'a Namespace, whose finalizers are elsewhere',
      { ...stored('Pod', { deletionTimestamp: 'now' }), spec: { finalizers: ['kubernetes'] } },
      'write Pod 7',
    ],
    [
      'an object that is gone',
      stored('Pod', { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 }),
      'delete Pod a uid-1',
    ],
    ['an object as it last was', stored('Pod'), 'delete Pod a uid-1'],
  ])('interprets a deletion whose response is %s', async (_, body, expected) => {
    const { live, recorded } = setUp({ body });
    await live.delete(Pod, key);
    expect(recorded).toEqual([expected]);
  });

  it('records a write that removes the last finalizer of a deleted object as its deletion', async () => {
    const { live, recorded } = setUp(
      { body: stored('Secret', { deletionTimestamp: 'now', finalizers: ['x/y'] }) },
      { body: stored('Secret', { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 }) },
    );
    const patch = { type: 'merge', body: {} } as const;
    await live.patch(Secret, key, patch);
    await live.patch(Secret, key, patch);
    expect(recorded).toEqual(['write Secret 7', 'delete Secret a uid-1']);
  });

  it('cancels every request with its own signal and with that of the client', async () => {
    const { live, abort, transport } = setUp({ body: stored('Secret') }, { body: stored('Secret') });
    const own = new AbortController();
    await live.get(Secret, key);
    await live.get(Secret, key, { signal: own.signal });
    own.abort(new Error('own'));
    await expect(live.get(Secret, key, { signal: own.signal })).rejects.toThrow('own');
    abort.abort(new Error('run over'));
    await expect(live.list(Secret)).rejects.toThrow('run over');
    expect(transport.requests).toHaveLength(2);
  });
});
