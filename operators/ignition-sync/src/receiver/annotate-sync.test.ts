import { applyMergePatch } from '@bowline/machinery';
import { createClient, type Transport, type TransportRequest, type TransportResponse } from '@bowline/runtime/client';
import { expect, it } from 'vitest';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { annotateSync } from './annotate-sync.ts';
import { type Decision, decideRequest, type WebhookTarget } from './decide-request.ts';
import type { RefPayload } from './payload.ts';
import { sync } from './receiver.test-support.ts';

const KEY = { namespace: 'plant', name: 'site' };
const PATH = '/apis/sync.ignition.io/v1alpha1/namespaces/plant/ignitionsyncs/site';
const payload: RefPayload = { kind: 'ref', source: 'github', ref: 'v2', isBranch: false };
const NOT_FOUND = { kind: 'Status', reason: 'NotFound', details: { kind: 'ignitionsyncs', name: 'site' } };
const decide = (current: WebhookTarget): Decision => decideRequest(payload, current, 0);

/** SyncServer stores one IgnitionSync, with the optimistic locking of the API server. */
class SyncServer implements Transport {
  readonly host = 'test';
  readonly requests: string[] = [];
  readonly patches: unknown[] = [];
  stored: WebhookTarget | undefined = sync();
  /** Called before each patch: changes of other clients. */
  beforePatch: () => void = () => undefined;
  failWith: number | undefined;

  request({ method, path, body }: TransportRequest): Promise<TransportResponse> {
    this.requests.push(`${method} ${path}`);
    if (method === 'PATCH') this.beforePatch();
    if (this.failWith !== undefined) return respond(this.failWith, { kind: 'Status' });
    if (!this.stored || !path.startsWith(PATH)) return respond(404, NOT_FOUND);
    if (method === 'PATCH') {
      const patch = JSON.parse(String(body)) as { metadata: { uid: string; resourceVersion: string } };
      this.patches.push(patch);
      const { uid, resourceVersion } = this.stored.metadata ?? {};
      if (patch.metadata.uid !== uid || patch.metadata.resourceVersion !== resourceVersion)
        return respond(409, { kind: 'Status', reason: 'Conflict' });
      this.stored = applyMergePatch(this.stored, patch) as WebhookTarget;
    }
    return respond(200, { apiVersion: 'sync.ignition.io/v1alpha1', kind: 'IgnitionSync', ...this.stored });
  }

  /** change stores a newer version. */
  change(metadata: WebhookTarget['metadata'] = {}, spec = this.stored?.spec): void {
    const resourceVersion = String(Number(this.stored?.metadata?.resourceVersion ?? 0) + 1);
    const stored = { ...this.stored?.metadata, ...metadata, resourceVersion };
    if (spec) this.stored = { metadata: stored, spec };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function respond(status: number, body: object): Promise<TransportResponse> {
  const text = JSON.stringify(body);
  const bytes = [Buffer.from(text)];
  return Promise.resolve({
    status,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield* bytes;
    })(),
    text: () => Promise.resolve(text),
    aliveAt: () => 0,
  });
}

const annotate = (server: SyncServer, target: WebhookTarget = sync()): Promise<Decision | undefined> =>
  annotateSync(createClient({ transport: server }), KEY, target, decide, { fieldManager: 'test' });

it('patches the annotations of exactly the state that was decided about', async () => {
  const server = new SyncServer();
  expect(await annotate(server)).toMatchObject({ outcome: 'request', ref: 'v2' });
  expect(server.patches).toEqual([
    {
      metadata: {
        uid: 'uid-1',
        resourceVersion: '1',
        annotations: {
          [CR_ANNOTATIONS.requestedRef]: 'v2',
          [CR_ANNOTATIONS.requestedAt]: '1970-01-01T00:00:00Z',
          [CR_ANNOTATIONS.requestedBy]: 'github',
        },
      },
    },
  ]);
  expect(server.requests).toEqual([expect.stringMatching(`^PATCH ${PATH}.*fieldManager=test`)]);
  expect(server.stored?.spec).toEqual(sync().spec);
});

it('sends nothing if nothing is requested', async () => {
  const server = new SyncServer();
  expect(await annotate(server, sync({ ref: 'v2' }))).toEqual({ outcome: 'unchanged', ref: 'v2' });
  expect(server.requests).toEqual([]);
});

it('decides again about the current state after a conflict', async () => {
  const server = new SyncServer();
  server.change();
  expect(await annotate(server)).toMatchObject({ outcome: 'request' });
  expect(server.patches).toHaveLength(2);
  const other = new SyncServer();
  other.change({ annotations: { [CR_ANNOTATIONS.requestedRef]: 'v2' } });
  expect(await annotate(other)).toEqual({ outcome: 'unchanged', ref: 'v2' });
  expect(other.patches).toHaveLength(1);
});

it('gives up after three conflicts', async () => {
  const server = new SyncServer();
  server.beforePatch = () => server.change();
  await expect(annotate(server)).rejects.toMatchObject({ status: 409 });
  expect(server.patches).toHaveLength(3);
});

it.each<[string, (server: SyncServer) => void]>([
  ['is gone', (server) => (server.stored = undefined)],
  ['was replaced by another of the same name', (server) => server.change({ uid: 'uid-2' })],
  ['no longer receives webhooks', (server) => server.change({}, sync({ enabled: false }).spec)],
])('writes nothing to an IgnitionSync that %s', async (_, arrange) => {
  const server = new SyncServer();
  arrange(server);
  const before = server.stored;
  expect(await annotate(server)).toBeUndefined();
  expect(server.stored).toEqual(before);
});

it('reports every other failure, and does not retry', async () => {
  const server = new SyncServer();
  server.failWith = 403;
  await expect(annotate(server)).rejects.toMatchObject({ status: 403 });
  expect(server.requests).toHaveLength(1);
});
