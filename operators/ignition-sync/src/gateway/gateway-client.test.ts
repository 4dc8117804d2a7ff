import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock, VirtualClock } from '@bowline/machinery';
import { createLog } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import type { FaultChanges } from '../simulated-gateway/gateway-faults.ts';
import { API_KEY, type GatewayFolder, gatewayFolder } from '../simulated-gateway/gateway-folder.test-support.ts';
import type { SimulatedGatewayOptions } from '../simulated-gateway/simulated-gateway.ts';
import { GatewayClient } from './gateway-client.ts';
import { GatewayError } from './gateway-error.ts';

const signal = new AbortController().signal;
const SCANS = '/data/api/v1/scan/*';

interface Rig extends AsyncDisposable {
  readonly folder: GatewayFolder;
  readonly client: GatewayClient;
  readonly clock: VirtualClock;
  fail(...responses: NonNullable<FaultChanges['responses']>): Promise<void>;
  /** The methods, paths and statuses of calls since the last time. */
  calls(): Promise<readonly string[]>;
}

/** Both sides are real; the delays of the client and its timeouts are on a virtual clock. */
async function rig(
  { tls = false, ...options }: Partial<SimulatedGatewayOptions> = {},
  wire: Clock = systemClock,
): Promise<Rig> {
  const folder = await gatewayFolder({ tls, ...options });
  await folder.gateway.start();
  const clock = new VirtualClock();
  const { apiKeyFile, gateway } = folder;
  let seen = 0;
  return {
    folder,
    clock,
    client: new GatewayClient({ port: gateway.port, tls, apiKeyFile, clock, wire }),
    fail: async (...responses) => {
      await gateway.change({ responses });
    },
    calls: async () => {
      await gateway.idle();
      const all = (await folder.journal()).filter(({ type }) => type === 'call');
      const lines = all.slice(seen).map(({ method, path, status }) => `${method} ${path} ${status}`);
      seen = all.length;
      return lines;
    },
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}

/** Waits until the next timer of the clock is due after exactly this time: sockets need real time. */
async function untilTimer(clock: VirtualClock, dueInMs: number): Promise<void> {
  while (clock.nextDueInMs !== dueInMs) await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the clock whenever something waits for it, until the work is done. */
async function advancing<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(clock.nextDueInMs === 250 ? 250 : 0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await done;
}

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error('the call did not fail as expected', { cause: error });
  return error;
}

describe('scan', () => {
  it.each([true, false])('loads projects, then config, and waits for a confirmation (TLS: %s)', async (tls) => {
    await using r = await rig({ tls });
    const result = await advancing(r.clock, r.client.scan(signal));
    expect(result).toEqual({ isConfirmed: true, summary: 'projects=200 config=200' });
    expect((await r.calls()).filter((call) => call.startsWith('POST'))).toEqual([
      'POST /data/api/v1/scan/projects 200',
      'POST /data/api/v1/scan/config 200',
    ]);
    const requested = r.folder.gateway.loads.filter(({ trigger }) => trigger === 'request');
    expect(new Set(requested.map(({ folder }) => folder))).toEqual(new Set(['projects', 'config']));
  });

  it('waits until a long scan has ended', async () => {
    const server = new VirtualClock();
    await using r = await rig({ clock: server });
    await r.folder.gateway.change({ scanMs: 1_000 });
    const scan = r.client.scan(signal);
    await untilTimer(r.clock, 250);
    expect(r.folder.gateway.loads.some(({ trigger }) => trigger === 'request')).toBe(false);
    await server.advance(1_000);
    expect(await advancing(r.clock, scan)).toMatchObject({ isConfirmed: true });
  });

  it('reports a scan that is not confirmed within 10 s, without an error', async () => {
    const server = new VirtualClock();
    await using r = await rig({ clock: server });
    await r.folder.gateway.change({ scanMs: 60_000 });
    expect(await advancing(r.clock, r.client.scan(signal))).toEqual({
      isConfirmed: false,
      summary: 'projects=200 config=200 unconfirmed',
    });
    expect(r.clock.monotonic()).toBe(10_000);
  });

  it('does not wait longer for a gateway that does not respond', async () => {
    const server = new VirtualClock();
    await using r = await rig({ clock: server });
    // The first call of each kind is the state before the scan.
    const normal = { path: SCANS, method: 'GET', times: 2 } as const;
    await r.fail(normal, { path: SCANS, method: 'GET', latencyMs: 600_000 });
    const scan = r.client.scan(signal);
    await untilTimer(r.clock, 10_000);
    await r.clock.advance(10_000);
    expect((await scan).isConfirmed).toBe(false);
  });

  it('does not wait for a confirmation from a gateway without scan status', async () => {
    await using r = await rig();
    await r.fail({ path: SCANS, method: 'GET', status: 404 });
    expect((await r.client.scan(signal)).summary).toBe('projects=200 config=200 unconfirmed');
    expect(r.clock.monotonic()).toBe(0);
  });

  it('releases the scan locks, which keep the gateway from scanning by itself', async () => {
    const server = new VirtualClock();
    await using r = await rig({ clock: server });
    for (const kind of ['projects', 'config'] as const)
      expect(await r.client.lockScans(kind, signal)).toEqual({ isHeld: true, reason: '' });
    await r.folder.gateway.change({ automaticScanMs: 1_000 });
    await server.advance(5_000);
    await r.folder.gateway.idle();
    expect(r.folder.gateway.loads.map(({ trigger }) => trigger)).toEqual(['start', 'start']);
    await advancing(r.clock, r.client.scan(signal));
    await server.advance(1_000);
    await r.folder.gateway.idle();
    expect(r.folder.gateway.loads.map(({ trigger }) => trigger).slice(0, 4)).toEqual([
      'automatic',
      'automatic',
      'request',
      'request',
    ]);
  });
});

describe('attempts', () => {
  it.each([500, 503] as const)('repeats a call that fails with %s after 2 s and after 4 s', async (status) => {
    await using r = await rig();
    await r.fail({ status, times: 2 });
    const names = r.client.projectNames(signal);
    await untilTimer(r.clock, 2_000);
    await r.clock.advance(2_000);
    await untilTimer(r.clock, 4_000);
    await r.clock.advance(4_000);
    expect(await names).toEqual(['line-1', 'overview']);
    const path = 'GET /data/api/v1/projects/names';
    expect(await r.calls()).toEqual([`${path} ${status}`, `${path} ${status}`, `${path} 200`]);
  });

  it('gives up after three attempts', async () => {
    await using r = await rig();
    await r.fail({ status: 500 });
    const failure = failureOf(r.client.projectNames(signal));
    for (const delayMs of [2_000, 4_000]) {
      await untilTimer(r.clock, delayMs);
      await r.clock.advance(delayMs);
    }
    expect(await failure).toMatchObject({ problem: 'failing', status: 500, retryable: true });
    expect(await r.calls()).toHaveLength(3);
  });

  it('repeats a call when the connection is refused, and succeeds when the gateway is back', async () => {
    await using r = await rig();
    await r.folder.gateway.change({ refuseConnections: true });
    const names = r.client.projectNames(signal);
    await untilTimer(r.clock, 2_000);
    await r.folder.gateway.change({ refuseConnections: false });
    await r.clock.advance(2_000);
    expect(await names).toEqual(['line-1', 'overview']);
  });

  it('ends an attempt after 10 s and names the port', async () => {
    const wire = new VirtualClock();
    await using r = await rig({ clock: new VirtualClock() }, wire);
    await r.fail({ latencyMs: 600_000 });
    const failure = failureOf(r.client.projectNames(signal));
    for (const delayMs of [2_000, 4_000, 0]) {
      await untilTimer(wire, 10_000);
      await wire.advance(10_000);
      if (delayMs === 0) break;
      await untilTimer(r.clock, delayMs);
      await r.clock.advance(delayMs);
    }
    const { problem, message } = await failure;
    expect(problem).toBe('unreachable');
    expect(message).toContain(`on port ${r.folder.gateway.port} (ETIMEDOUT); check that the gateway runs`);
  });

  it.each([
    [401, 'unauthorized', 'it must be name:secret'],
    [403, 'forbidden', 'permission level Write'],
    [404, 'notFound', 'check that the port is that of an Ignition gateway'],
    [409, 'refused', 'see the log of the gateway'],
  ] as const)('does not repeat a call that is answered with %s', async (status, problem, message) => {
    await using r = await rig();
    await r.fail({ path: SCANS, method: 'POST', status });
    const failure = await failureOf(r.client.scan(signal));
    expect(failure).toMatchObject({ problem, status, retryable: false });
    expect(failure.message).toContain(message);
    expect(failure.message).toContain(`on port ${r.folder.gateway.port}`);
    expect((await r.calls()).filter((call) => call.startsWith('POST'))).toHaveLength(1);
  });

  it('stops waiting when it is aborted', async () => {
    await using r = await rig();
    await r.fail({ status: 500 });
    const abort = new AbortController();
    const names = r.client.projectNames(abort.signal);
    await untilTimer(r.clock, 2_000);
    abort.abort(new Error('stopped'));
    await expect(names).rejects.toThrow('stopped');
    expect(r.clock.pendingTimers).toBe(0);
  });
});

describe('the API key', () => {
  it('is read again for every call', async () => {
    await using r = await rig();
    await using other = await gatewayFolder();
    const client = new GatewayClient({ port: r.folder.gateway.port, tls: false, apiKeyFile: other.apiKeyFile });
    await writeFile(other.apiKeyFile, 'other:key');
    expect(await failureOf(client.projectNames(signal))).toMatchObject({ problem: 'unauthorized' });
    await writeFile(other.apiKeyFile, API_KEY);
    expect(await client.projectNames(signal)).toHaveLength(2);
    await rm(other.apiKeyFile);
    const { problem, message } = await failureOf(client.projectNames(signal));
    expect(problem).toBe('apiKey');
    expect(message).toContain(`${other.apiKeyFile} (ENOENT)`);
  });

  it.each(['canary', 'na me:canary', 'name:canary\nname:canary', ':canary', 'name:', '', `name:${'c'.repeat(5000)}`])(
    'is refused before it is sent if it is not name:secret (%#)',
    async (content) => {
      await using r = await rig();
      await writeFile(r.folder.apiKeyFile, content);
      const failure = await failureOf(r.client.designers(signal));
      expect(failure).toMatchObject({ problem: 'apiKey' });
      expect(failure.message).toContain('it must be name:secret');
      expect(failure.message).not.toContain('canary');
      expect(await r.calls()).toEqual([]);
    },
  );

  it('appears in no error and no log line, even if a response repeats it', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    await using echo = await scripted((apiKey) => [500, apiKey]);
    await using folder = await gatewayFolder();
    const clock = new VirtualClock();
    const client = new GatewayClient({ port: echo.port, tls: false, apiKeyFile: folder.apiKeyFile, clock, log });
    const failure = failureOf(client.designers(signal));
    for (const delayMs of [2_000, 4_000]) {
      await untilTimer(clock, delayMs);
      await clock.advance(delayMs);
    }
    const error = await failure;
    expect(echo.received).toContain(API_KEY);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify([error, error.message, error.stack, error.cause, lines])).not.toContain('canary');
  });
});

describe('responses', () => {
  it('refuses a response that is too large', async () => {
    await using server = await scripted(() => [200, JSON.stringify(['x'.repeat(1024 * 1024)])]);
    await using folder = await gatewayFolder();
    const client = new GatewayClient({ port: server.port, tls: false, apiKeyFile: folder.apiKeyFile });
    const failure = await failureOf(client.projectNames(signal));
    expect(failure.problem).toBe('invalidResponse');
    expect(failure.message).toContain('has more than 1048576 bytes');
  });

  it.each(['<html>', '{"items": 1}', '[1]', 'null'])('refuses %s as a list of names', async (text) => {
    await using server = await scripted(() => [200, text]);
    await using folder = await gatewayFolder();
    const client = new GatewayClient({ port: server.port, tls: false, apiKeyFile: folder.apiKeyFile });
    expect((await failureOf(client.projectNames(signal))).problem).toBe('invalidResponse');
  });

  it('does not follow redirects', async () => {
    await using server = await scripted(() => [302, '']);
    await using folder = await gatewayFolder();
    const client = new GatewayClient({ port: server.port, tls: false, apiKeyFile: folder.apiKeyFile });
    expect(await failureOf(client.projectNames(signal))).toMatchObject({ problem: 'refused', status: 302 });
  });

  it('names both schemes if HTTPS is expected on a port with HTTP', async () => {
    await using server = await scripted(() => [200, '[]']);
    await using folder = await gatewayFolder();
    const clock = new VirtualClock();
    const client = new GatewayClient({ port: server.port, apiKeyFile: folder.apiKeyFile, clock });
    const failure = failureOf(client.projectNames(signal));
    for (const delayMs of [2_000, 4_000]) {
      await untilTimer(clock, delayMs);
      await clock.advance(delayMs);
    }
    expect((await failure).message).toContain('serves HTTPS on this port (gateway.port, gateway.tls)');
  });
});

describe('scan locks', () => {
  it.each([401, 403, 404, 409, 500, 503] as const)('a refusal with %s is reported and not repeated', async (status) => {
    await using r = await rig();
    await r.fail({ status });
    const result = await r.client.lockScans('config', signal);
    expect(result.isHeld).toBe(false);
    expect(result.reason).toContain(`HTTP status ${status}`);
    expect(await r.calls()).toEqual([`POST /data/api/v1/scan-lock/config ${status}`]);
  });

  it('a gateway that does not run is not an error', async () => {
    await using r = await rig();
    await r.folder.gateway.change({ refuseConnections: true });
    const result = await r.client.lockScans('projects', signal);
    expect(result.isHeld).toBe(false);
    // It is reset if another thread starts a process at that moment, which has a copy of the listening socket for a while.
    expect(result.reason).toMatch(/ECONN(?:REFUSED|RESET)/);
  });
});

describe('the gateway of a pod', () => {
  it('is waited for until it answers with anything but 503', async () => {
    await using r = await rig();
    await r.folder.gateway.change({ refuseConnections: true });
    const answering = r.client.untilAnswering(signal);
    await untilTimer(r.clock, 2_000);
    await r.fail({ path: '/system/gwinfo', status: 503, times: 1 }, { path: '/system/gwinfo', status: 404 });
    await r.folder.gateway.change({ refuseConnections: false });
    await r.clock.advance(2_000);
    await untilTimer(r.clock, 2_000);
    await r.clock.advance(2_000);
    await answering;
    expect(await r.calls()).toEqual(['GET /system/gwinfo 503', 'GET /system/gwinfo 404']);
  });

  it('lists projects, Designers and Perspective sessions', async () => {
    await using r = await rig();
    const designer = { id: 'd1', user: 'ann', project: 'overview' };
    await r.folder.gateway.change({
      designers: [designer, { id: 'd2', user: 'bob' }],
      sessions: [{ id: 's1', user: 'eve' }],
      brokenProjects: ['line-1'],
    });
    await advancing(r.clock, r.client.scan(signal));
    expect(await r.client.designers(signal)).toEqual([designer, { id: 'd2', user: 'bob', project: undefined }]);
    expect(await r.client.perspectiveSessions(signal)).toBe(1);
    expect(await r.client.projectNames(signal)).toEqual(['overview']);
  });

  it('reports which of the placed projects it has not loaded', async () => {
    await using r = await rig();
    expect(await r.client.missingProjects(['overview', 'mixer', 'Line-1'], signal)).toEqual(['mixer', 'Line-1']);
    expect(await r.client.missingProjects(['overview', 'line-1'], signal)).toEqual([]);
  });

  it.each([403, 404] as const)('misses no project if it responds with %s', async (status) => {
    await using r = await rig();
    await r.fail({ status });
    expect(await r.client.missingProjects(['mixer'], signal)).toEqual([]);
  });

  it('may lack these endpoints', async () => {
    await using r = await rig();
    await r.fail({ method: 'GET', status: 404 });
    expect(await r.client.designers(signal)).toBeUndefined();
    expect(await r.client.perspectiveSessions(signal)).toBeUndefined();
    expect(await r.client.projectNames(signal)).toBeUndefined();
  });
});

interface Scripted extends AsyncDisposable {
  readonly port: number;
  /** The API keys that were received. */
  readonly received: string[];
}

/** A server with responses that the simulated gateway never has. */
async function scripted(answer: (apiKey: string) => readonly [number, string]): Promise<Scripted> {
  const received: string[] = [];
  const server: Server = createServer((request, response) => {
    const apiKey = String(request.headers['x-ignition-api-token']);
    received.push(apiKey);
    const [status, text] = answer(apiKey);
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
