import type { Node } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { nodeStatus } from './node-status.ts';
import { sameJson } from './same-json.ts';

const EARLY = { now: '2026-01-01T00:00:00Z', internalIP: '10.0.0.1' };
const LATE = { now: '2026-01-01T00:01:00Z', internalIP: '10.0.0.2' };
const node: Node = { metadata: { name: 'n' } };

const readyOf = (of: Node) => of.status?.conditions?.find(({ type }) => type === 'Ready');

it('reports capacity, an address and readiness, and only once', () => {
  const reported: Node = { ...node, status: nodeStatus(node, 'ready', EARLY) };
  expect(reported.status).toMatchObject({
    allocatable: { cpu: '64' },
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'n' },
    ],
  });
  expect(readyOf(reported)).toMatchObject({ status: 'True', lastHeartbeatTime: EARLY.now });
  expect(sameJson(reported.status, nodeStatus(reported, 'ready', LATE))).toBe(true);
});

it('keeps devices and conditions set by others', () => {
  const conditions = [{ type: 'NetworkUnavailable', status: 'False' }];
  const status = nodeStatus({ ...node, status: { capacity: { 'a.test/gpu': '1' }, conditions } }, 'ready', EARLY);
  expect(status.capacity).toMatchObject({ 'a.test/gpu': '1', cpu: '64' });
  expect(status.allocatable).toMatchObject({ 'a.test/gpu': '1' });
  expect(status.conditions).toContainEqual(conditions[0]);
});

it('directs the API server to this machine for logs if they are served, and nowhere otherwise', () => {
  const served: Node = { ...node, status: nodeStatus(node, 'ready', { ...EARLY, logPort: 4711 }) };
  expect(served.status).toMatchObject({
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: '127.0.0.1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 4711 } },
  });
  const after = nodeStatus(served, 'ready', LATE);
  expect(after.daemonEndpoints).toBeUndefined();
  expect(after.addresses).toContainEqual({ type: 'Hostname', address: 'n' });
});

it('changes the transition time only with the status', () => {
  const before: Node = { ...node, status: nodeStatus(node, 'ready', EARLY) };
  const unready: Node = { ...node, status: nodeStatus(before, 'not-ready', { ...LATE, problem: 'broken' }) };
  expect(readyOf(unready)).toMatchObject({ status: 'False', message: 'broken', lastTransitionTime: LATE.now });
  const memory = unready.status?.conditions?.find(({ type }) => type === 'MemoryPressure');
  expect(memory?.lastTransitionTime).toBe(EARLY.now);
});
