import { VirtualClock } from '@bowline/machinery';
import { createClient, type Transport, type TransportRequest } from '@bowline/runtime/client';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { Heartbeats } from './heartbeats.ts';

const absent = {
  kind: 'Status',
  status: 'Failure',
  code: 404,
  reason: 'NotFound',
  details: { name: 'n', kind: 'leases' },
};

/** A server that has no Lease until one is created, and records its requests. */
class LeaseServer implements Transport {
  readonly host = 'scripted';
  readonly requests: TransportRequest[] = [];
  #hasLease = false;

  request(request: TransportRequest) {
    this.requests.push(request);
    if (request.method === 'POST') this.#hasLease = true;
    const response = this.#hasLease ? { metadata: { name: 'n' } } : absent;
    const text = JSON.stringify(response);
    return Promise.resolve({
      status: this.#hasLease ? 200 : 404,
      headers: {},
      body: (async function* () {
        yield Buffer.from(text);
      })(),
      text: () => Promise.resolve(text),
      aliveAt: () => 0,
    });
  }

  /** methods returns the methods of the requests since the last call. */
  methods(): string[] {
    return this.requests.splice(0).map(({ method }) => method);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function setUp() {
  const server = new LeaseServer();
  const wire = new VirtualClock();
  const client = createClient({ transport: server, clock: wire });
  const heartbeats = new Heartbeats({ client, wire, log: silentLog, intervalMs: 10_000 });
  const stop = new AbortController();
  const running = heartbeats.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { server, wire, heartbeats, end };
}

const node = { metadata: { name: 'n', uid: 'u1' } };

it('creates the Lease, owned by its Node, and renews it on its own lane until the node is dropped', async () => {
  const { server, wire, heartbeats, end } = setUp();
  heartbeats.keep(node);
  heartbeats.keep(node);
  await wire.advance(0);
  expect(JSON.parse(String(server.requests[1]?.body))).toMatchObject({
    metadata: { namespace: 'kube-node-lease', name: 'n', ownerReferences: [{ kind: 'Node', uid: 'u1' }] },
    spec: { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
  });
  expect(server.requests.map(({ lane }) => lane)).toEqual(['lease', 'lease']);
  expect(server.methods()).toEqual(['PATCH', 'POST']);
  await wire.advance(20_000);
  expect(server.methods()).toEqual(['PATCH', 'PATCH']);
  heartbeats.drop('n');
  await wire.advance(60_000);
  expect(server.methods()).toEqual([]);
  await end();
  expect(wire.pendingTimers).toBe(0);
});

it('renews for a new Node of the same name, and for none once it has ended', async () => {
  const { server, wire, heartbeats, end } = setUp();
  heartbeats.keep(node);
  await wire.advance(0);
  server.methods();
  heartbeats.keep({ metadata: { name: 'n', uid: 'u2' } });
  await wire.advance(10_000);
  const owners = server.requests.map(({ body }) => String(body).includes('"u2"'));
  expect(owners).toEqual([true, true]);
  await end();
  server.methods();
  heartbeats.keep(node);
  await wire.advance(60_000);
  expect(server.methods()).toEqual([]);
  expect(wire.pendingTimers).toBe(0);
});
