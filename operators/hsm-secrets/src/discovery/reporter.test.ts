import type { Pod } from '@bowline/kubernetes';
import { seededRandom, VirtualClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { createClient } from '@bowline/runtime/client';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import type { Findings } from './findings.ts';
import type { FoundDevice } from './found-device.ts';
import { PodServer } from './pod-server.test-support.ts';
import { Reporter, type ReporterOptions } from './reporter.ts';

const HEARTBEAT_MS = 60_000;
const PICO: FoundDevice = {
  devicePath: '/dev/bus/usb/001/015',
  serialNumber: 'DC6A33145E23A42A',
  available: true,
  deviceInfo: { vendorId: '20a0' },
};
const pod = (uid: string, nodeName = 'node1'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'hsm', name: 'scanner', uid },
  spec: { nodeName, containers: [] },
});

/** Reporting is a reporter in virtual time. */
class Reporting implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly server = new PodServer(pod('uid-1'));
  readonly logged: string[] = [];
  readonly fields: object[] = [];
  heartbeatMs = HEARTBEAT_MS;
  readonly reporter: Reporter;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: Partial<ReporterOptions> = {}) {
    const { clock, server } = this;
    const record = (message: string, fields?: object): void => {
      this.logged.push(message);
      this.fields.push(fields ?? {});
    };
    const log: Log = { ...silentLog, warn: record, info: record };
    this.reporter = new Reporter({
      client: createClient({ transport: server, clock, wire: clock }),
      device: 'pico-hsm',
      pod: { namespace: 'hsm', name: 'scanner' },
      nodeName: 'node1',
      clock,
      random: seededRandom(1),
      log,
      heartbeatMs: () => this.heartbeatMs,
      ...options,
    });
    this.#running = this.reporter.run(this.#stop.signal);
  }

  /** found reports a completed search. */
  async found(...devices: FoundDevice[]): Promise<void> {
    await this.report({ status: 'completed', devices, error: undefined, at: this.clock.now() });
  }

  async report(findings: Findings | undefined): Promise<void> {
    this.reporter.report(findings);
    await this.clock.advance(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    expect(this.clock.pendingTimers).toBe(0);
  }
}

it('reports a change at once, in the one annotation of its own pod', async () => {
  await using r = new Reporting();
  await r.found(PICO);
  expect(r.server.reports).toEqual([
    {
      hsmDeviceName: 'pico-hsm',
      reportingNode: 'node1',
      discoveredDevices: [{ ...PICO, lastSeen: '2026-01-01T00:00:00Z', nodeName: 'node1' }],
      lastReportTime: '2026-01-01T00:00:00.000000Z',
      discoveryStatus: 'completed',
      error: undefined,
      uid: 'uid-1',
      fieldManager: 'bowline-hsm-secrets-discovery',
    },
  ]);
  await r.clock.advance(1_000);
  await r.found();
  expect(r.server.latest).toMatchObject({ discoveredDevices: [], lastReportTime: '2026-01-01T00:00:01.000000Z' });
  await r.report({ status: 'error', devices: [], error: 'no sysfs', at: r.clock.now() });
  expect(r.server.latest).toMatchObject({ discoveryStatus: 'error', error: 'no sysfs' });
  expect(r.server.requests).toEqual(['GET', 'PATCH', 'PATCH', 'PATCH']);
});

it('repeats an unchanged report at the heartbeat only, with the time of the latest search', async () => {
  await using r = new Reporting();
  await r.found(PICO);
  await r.clock.advance(30_000);
  await r.found(PICO);
  await r.clock.advance(29_999);
  expect(r.server.reports).toHaveLength(1);
  await r.clock.advance(1);
  expect(r.server.reports).toHaveLength(2);
  expect(r.server.latest).toMatchObject({
    lastReportTime: '2026-01-01T00:01:00.000000Z',
    discoveredDevices: [{ lastSeen: '2026-01-01T00:00:30Z' }],
  });
  await r.clock.advance(10 * HEARTBEAT_MS);
  expect(r.server.reports).toHaveLength(12);
});

it('uses a shorter heartbeat as soon as it is known', async () => {
  await using r = new Reporting();
  await r.found(PICO);
  await r.clock.advance(5_000);
  r.heartbeatMs = 1_000;
  r.reporter.heartbeatChanged();
  await r.clock.advance(0);
  expect(r.server.reports).toHaveLength(2);
  await r.clock.advance(1_000);
  expect(r.server.reports).toHaveLength(3);
});

it('reports nothing while there is nothing to report', async () => {
  await using r = new Reporting();
  await r.report(undefined);
  await r.clock.advance(HEARTBEAT_MS);
  expect(r.server.requests).toEqual([]);
  await r.found(PICO);
  await r.report(undefined);
  await r.clock.advance(10 * HEARTBEAT_MS);
  expect(r.server.reports).toHaveLength(1);
});

it('retries a failure with increasing delays, and then reports the latest content', async () => {
  await using r = new Reporting();
  r.server.failures.push(500, new Error('connection lost'), 422, 500, 500, 500, 500, 500);
  await r.found();
  await r.clock.advance(1_000);
  await r.found(PICO);
  expect(r.server.requests).toHaveLength(2);
  await r.clock.advance(10 * HEARTBEAT_MS);
  expect(r.server.reports[0]).toMatchObject({ discoveredDevices: [{ serialNumber: 'DC6A33145E23A42A' }] });
  expect(r.server.failures).toEqual([]);
  // Failures of the same kind are logged once.
  expect(r.logged.filter((message) => message === 'cannot report, retrying').length).toBeLessThanOrEqual(4);
  expect(r.logged.at(-1)).toBe('reporting again');
});

it('never waits longer than a heartbeat for a retry', async () => {
  await using r = new Reporting();
  await r.found(PICO);
  r.server.failures.push(...Array.from({ length: 20 }, () => 500));
  await r.clock.advance(21 * HEARTBEAT_MS);
  expect(r.server.failures).toEqual([]);
});

it('logs the remedy when a report is forbidden, and retries at the heartbeat', async () => {
  await using r = new Reporting();
  r.server.failures.push(403, 403);
  await r.found(PICO);
  await r.found();
  await r.clock.advance(HEARTBEAT_MS - 1);
  expect(r.server.requests).toHaveLength(1);
  await r.clock.advance(HEARTBEAT_MS);
  expect(r.server.requests).toHaveLength(2);
  expect(r.logged).toEqual(['cannot report, retrying']);
  expect(r.fields[0]).toMatchObject({
    retryInMs: HEARTBEAT_MS,
    remedy: expect.stringContaining('bind the ClusterRole'),
  });
  await r.clock.advance(1);
  expect(r.server.latest).toMatchObject({ discoveredDevices: [] });
  expect(r.logged).toEqual(['cannot report, retrying', 'reporting again']);
});

it('reports in a pod that was recreated on its node, and waits for one that was deleted', async () => {
  await using r = new Reporting();
  await r.found(PICO);
  r.server.pod = pod('uid-2');
  await r.clock.advance(HEARTBEAT_MS + 1_000);
  expect(r.server.latest?.uid).toBe('uid-2');
  r.server.pod = undefined;
  await r.clock.advance(3 * HEARTBEAT_MS);
  r.server.pod = pod('uid-3');
  await r.clock.advance(HEARTBEAT_MS);
  expect(r.server.latest?.uid).toBe('uid-3');
});

it('never reports in another pod than the one with its uid', async () => {
  await using r = new Reporting({ pod: { namespace: 'hsm', name: 'scanner', uid: 'uid-1' } });
  await r.found(PICO);
  expect(r.server.requests).toEqual(['PATCH']);
  r.server.pod = pod('uid-2');
  await r.clock.advance(5 * HEARTBEAT_MS);
  expect(r.server.reports).toHaveLength(1);
  expect(r.fields.at(-1)).toMatchObject({
    error: {
      code: 'BOWLINE_HSM_POD_MISMATCH',
      message: 'cannot report in Pod hsm/scanner: it was deleted and recreated; start discovery for the new pod',
    },
  });
});

it('refuses to report in a pod of another node, whose report the manager would ignore', async () => {
  await using r = new Reporting();
  r.server.pod = pod('uid-1', 'node2');
  await r.found(PICO);
  expect(r.server.reports).toEqual([]);
  expect(r.fields).toMatchObject([
    {
      error: {
        message:
          'cannot report in Pod hsm/scanner: it is on node node2, not node1; set --node-name to the node of the pod',
      },
    },
  ]);
});
