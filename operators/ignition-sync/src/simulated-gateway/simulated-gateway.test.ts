import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { SECURITY_PROPERTIES } from './commission.ts';
import { changeFaults } from './control-socket.ts';
import { API_KEY, type GatewayFolder, gatewayFolder, VIEW } from './gateway-folder.test-support.ts';
import { loadProjects } from './load-folder.ts';
import { SimulatedGateway, type SimulatedGatewayOptions } from './simulated-gateway.ts';

const KEY = { 'x-ignition-api-token': API_KEY };
const SCAN = '/data/api/v1/scan/projects';
const LOCK = '/data/api/v1/scan-lock/projects';

async function started(options: Partial<SimulatedGatewayOptions> = {}): Promise<GatewayFolder> {
  const folder = await gatewayFolder({ tls: false, ...options });
  await folder.gateway.start();
  return folder;
}

async function call({ gateway }: GatewayFolder, path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`${gateway.url}${path}`, { headers: KEY, ...init });
}

async function post(folder: GatewayFolder, path: string, body?: object): Promise<number> {
  const response = await call(folder, path, { method: 'POST', body: body === undefined ? null : JSON.stringify(body) });
  await response.arrayBuffer();
  return response.status;
}

async function scan(folder: GatewayFolder): Promise<void> {
  expect(await post(folder, SCAN)).toBe(200);
  await folder.gateway.idle();
}

describe('authentication', () => {
  it.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['another key', { 'x-ignition-api-token': 'agent:other' }],
    ['a bearer token', { authorization: `Bearer ${API_KEY}` }],
  ])('refuses %s', async (_, headers) => {
    await using folder = await started();
    for (const path of [SCAN, LOCK, '/data/api/v1/designers', '/data/api/v1/gateway-info'])
      expect((await call(folder, path, { headers })).status).toBe(401);
    expect((await call(folder, SCAN, { method: 'POST', headers })).status).toBe(401);
    expect(folder.gateway.loads.every(({ trigger }) => trigger === 'start')).toBe(true);
  });

  it('is not needed for the state of the gateway', async () => {
    await using folder = await started();
    expect(await (await call(folder, '/StatusPing', { headers: {} })).json()).toEqual({ state: 'RUNNING' });
    expect(await (await call(folder, '/system/gwinfo', { headers: {} })).text()).toContain('ContextStatus=RUNNING');
  });
});

describe('a scan', () => {
  it('loads projects with a project.json and resources with a resource.json', async () => {
    await using folder = await started();
    await folder.place('projects/notes/readme.txt', 'no project');
    await folder.place('projects/.resources/x/project.json', {});
    await folder.place('projects/broken/project.json', '{"title":');
    await folder.place(`${VIEW}/resource.json`, { files: ['view.json', 'missing.json'] });
    await scan(folder);
    const [load] = folder.gateway.loads;
    expect(load).toMatchObject({ folder: 'projects', trigger: 'request', projects: ['line-1', 'overview'] });
    expect(load?.problems).toEqual([
      'projects/broken: project.json is not a JSON object',
      `${VIEW}: the file missing.json is missing`,
    ]);
    expect(await (await call(folder, '/data/api/v1/projects/names')).json()).toEqual(['line-1', 'overview']);
  });

  it('remembers a hash that changes with any content, and not with what the gateway rewrites', async () => {
    await using folder = await started();
    const before = (await loadProjects(folder.dataFolder)).hash;
    await scan(folder);
    expect(folder.gateway.loads[0]?.hash).toBe(before);
    await folder.place(`${VIEW}/view.json`, '{"root": 2}');
    await scan(folder);
    const changed = folder.gateway.loads[0];
    expect(changed).toMatchObject({ rewritten: 1 });
    expect(changed?.hash).not.toBe(before);
    await folder.place(`${VIEW}/view.json`, '{"root": 1}');
    await scan(folder);
    expect(folder.gateway.loads[0]?.hash).toBe(before);
  });

  it('rewrites two attributes of the resource.json of changed resources, once', async () => {
    await using folder = await started({ clock: new VirtualClock() });
    const original = await folder.read(`${VIEW}/resource.json`);
    await scan(folder);
    expect(await folder.read(`${VIEW}/resource.json`)).toBe(original);
    await folder.place(`${VIEW}/view.json`, '{"root": 2}');
    await scan(folder);
    const rewritten = await folder.read(`${VIEW}/resource.json`);
    expect(JSON.parse(rewritten)).toEqual({
      ...(JSON.parse(original) as object),
      attributes: {
        author: 'git',
        lastModification: { actor: 'external', timestamp: '2026-01-01T00:00:00.000Z' },
        lastModificationSignature: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    });
    await scan(folder);
    expect(folder.gateway.loads[0]).toMatchObject({ rewritten: 0 });
    expect(await folder.read(`${VIEW}/resource.json`)).toBe(rewritten);
  });

  it('does not take the attributes that it adds for a change', async () => {
    await using folder = await started();
    await folder.place(`${VIEW}/resource.json`, { files: ['view.json'] });
    const { hash } = await loadProjects(folder.dataFolder);
    await scan(folder);
    expect(folder.gateway.loads[0]).toMatchObject({ hash, rewritten: 1 });
    expect(await folder.read(`${VIEW}/resource.json`)).toContain('lastModification');
    await scan(folder);
    expect(folder.gateway.loads[0]).toMatchObject({ hash, rewritten: 0 });
  });

  it('that is requested during a scan is done afterwards', async () => {
    const clock = new VirtualClock();
    await using folder = await started({ clock });
    await folder.gateway.change({ scanMs: 1_000 });
    expect(await post(folder, SCAN)).toBe(200);
    expect(await (await call(folder, SCAN)).json()).toMatchObject({ scanActive: true });
    for (let requests = 0; requests < 3; requests++) expect(await post(folder, SCAN)).toBe(200);
    await clock.advance(1_000);
    while (clock.nextDueInMs === undefined) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1_000);
    await folder.gateway.idle();
    expect(folder.gateway.loads.filter(({ trigger }) => trigger === 'request')).toHaveLength(2);
    expect(await (await call(folder, SCAN)).json()).toMatchObject({ scanActive: false, lastScanDuration: 1_000 });
  });

  it('keeps what was loaded if the folder cannot be read', async () => {
    await using folder = await started();
    await folder.place(`projects/overview/${'deep/'.repeat(80)}view.json`, '{}');
    await scan(folder);
    const [failed] = folder.gateway.loads;
    expect(failed?.problems.join()).toContain('nested too deeply');
    expect(failed?.projects).toEqual(['line-1', 'overview']);
  });

  it('does not take a folder for a project.json', async () => {
    await using folder = await started();
    await rm(join(folder.dataFolder, 'projects/overview/project.json'));
    await mkdir(join(folder.dataFolder, 'projects/overview/project.json'));
    await scan(folder);
    expect(folder.gateway.loads[0]?.projects).toEqual(['line-1']);
  });
});

describe('automatic scans', () => {
  it('load what was placed, at their interval, and stop when they are turned off', async () => {
    const clock = new VirtualClock();
    await using folder = await started({ clock });
    await folder.gateway.change({ automaticScanMs: 1_000 });
    await folder.place('projects/mixer/project.json', {});
    await clock.advance(999);
    await folder.gateway.idle();
    expect(folder.gateway.loads).toHaveLength(2);
    await clock.advance(1);
    await folder.gateway.idle();
    const load = folder.gateway.loads.find(({ folder: loaded }) => loaded === 'projects');
    expect(load).toMatchObject({ trigger: 'automatic', projects: ['line-1', 'mixer', 'overview'] });
    await folder.gateway.change({ automaticScanMs: 0 });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a scan lock', () => {
  it.each([undefined, [], { acquireTimeout: 'soon' }, { holdTimeout: -1 }])(
    'needs a JSON object (%j)',
    async (body) => {
      await using folder = await started();
      expect(await post(folder, LOCK, body)).toBe(500);
    },
  );

  it('is held once, until its time is over', async () => {
    const clock = new VirtualClock();
    await using folder = await started({ clock });
    expect(await post(folder, LOCK, { acquireTimeout: 0, holdTimeout: 60 })).toBe(200);
    expect(await (await call(folder, LOCK)).json()).toEqual({ locked: true, remainingSeconds: 60 });
    expect(await post(folder, LOCK, { acquireTimeout: 0 })).toBe(409);
    await clock.advance(60_000);
    expect(await (await call(folder, LOCK)).json()).toEqual({ locked: false });
    expect(await post(folder, LOCK, { acquireTimeout: 0 })).toBe(200);
  });

  it('waits for a running scan', async () => {
    const clock = new VirtualClock();
    await using folder = await started({ clock });
    await folder.gateway.change({ scanMs: 5_000 });
    await post(folder, SCAN);
    const lock = post(folder, LOCK, { acquireTimeout: 8, holdTimeout: 60 });
    while (clock.pendingTimers < 2) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(5_000);
    expect(await lock).toBe(200);
  });
});

describe('the first start', () => {
  it('overwrites the security properties, later starts do not', async () => {
    await using folder = await gatewayFolder({ tls: false });
    const path = `${SECURITY_PROPERTIES}/config.json`;
    await folder.place(path, '{"from": "git"}');
    await folder.gateway.start();
    expect(await folder.read(path)).not.toContain('git');
    await folder.gateway.stop();
    await folder.place(path, '{"from": "git"}');
    const { dataFolder, apiKeyFile } = folder;
    await using again = new SimulatedGateway({ dataFolder, apiKeyFile, tls: false });
    await again.start();
    expect(await folder.read(path)).toContain('git');
  });

  it('is visible: a gateway that is starting answers with 503', async () => {
    const clock = new VirtualClock();
    await using folder = await gatewayFolder({ tls: false, clock });
    await folder.gateway.change({ scanMs: 1_000 });
    const start = folder.gateway.start();
    while (clock.pendingTimers < 2) await new Promise((resolve) => setImmediate(resolve));
    expect((await call(folder, '/system/gwinfo')).status).toBe(503);
    expect(await (await call(folder, '/StatusPing')).json()).toEqual({ state: 'STARTING' });
    await clock.advance(1_000);
    await start;
    expect((await call(folder, '/system/gwinfo')).status).toBe(200);
  });

  it('needs a data folder', async () => {
    await using folder = await gatewayFolder({ dataFolder: '/nonexistent' });
    await expect(folder.gateway.start()).rejects.toMatchObject({ code: 'BOWLINE_IGNITION_SIMULATION' });
  });

  it('reports a port that is in use', async () => {
    await using folder = await started();
    await using other = await gatewayFolder({ tls: false, port: folder.gateway.port });
    await expect(other.gateway.start()).rejects.toMatchObject({ code: 'BOWLINE_ADDRESS_IN_USE' });
  });
});

describe('the journal', () => {
  it('has a line for each call and load, without the API key', async () => {
    await using folder = await started();
    await scan(folder);
    await call(folder, `/nothing?key=${API_KEY}`);
    await folder.gateway.idle();
    const entries = (await folder.journal()).map(({ type, method, path, status, folder: loaded, trigger }) =>
      type === 'call' ? `${method} ${path} ${status}` : `${type} ${loaded ?? ''} ${trigger ?? ''}`.trim(),
    );
    expect(entries.slice(0, 2).sort()).toEqual(['load config start', 'load projects start']);
    expect(entries.slice(2).sort()).toEqual(['GET /nothing 404', `POST ${SCAN} 200`, 'load projects request', 'start']);
    expect(await readFile(folder.journalFile, 'utf8')).not.toContain('canary');
  });
});

describe('the page', () => {
  it('lists projects and the last loads, and escapes what files contain', async () => {
    await using folder = await gatewayFolder({ tls: false, name: '<b>site-0' });
    await folder.place('projects/overview/project.json', { title: '<script>alert("1")</script> & \'more\'' });
    await folder.gateway.start();
    const response = await call(folder, '/', { headers: {} });
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).toContain('<html lang="en">');
    expect(page).toContain('<th scope="row">overview</th>');
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;');
    expect(page).not.toContain('<script');
    expect(page).toContain('<h1>&lt;b&gt;site-0: simulated Ignition gateway</h1>');
    expect(page).toContain('<caption>Last loads</caption>');
    expect(page).not.toContain('canary');
  });
});

describe('the control socket', () => {
  it('changes faults, keeps the others, and is private', async () => {
    await using folder = await started();
    await changeFaults(folder.controlSocket, { brokenProjects: ['line-1'] });
    const faults = await changeFaults(folder.controlSocket, { responses: [{ status: 503, times: 1 }] });
    expect(faults).toMatchObject({ brokenProjects: ['line-1'], responses: [{ path: '**', latencyMs: 0 }] });
    expect((await stat(folder.controlSocket)).mode & 0o777).toBe(0o600);
    expect(await post(folder, SCAN)).toBe(503);
    await scan(folder);
    expect(folder.gateway.loads[0]).toMatchObject({
      projects: ['overview'],
      problems: ['projects/line-1: the project cannot be loaded'],
    });
  });

  it.each<[string, object]>([
    ['responses[0].status', { responses: [{ status: 418 }] }],
    ['unknown field latency', { latency: 5 }],
    ['automaticScanMs', { automaticScanMs: -1 }],
  ])('refuses an invalid %s and changes nothing', async (problem, changes) => {
    await using folder = await started();
    const before = folder.gateway.faults;
    await expect(changeFaults(folder.controlSocket, changes)).rejects.toThrow(problem);
    expect(folder.gateway.faults).toEqual(before);
  });

  it('is removed when the gateway stops', async () => {
    await using folder = await started();
    await folder.gateway.stop();
    await expect(changeFaults(folder.controlSocket, {})).rejects.toMatchObject({
      code: 'BOWLINE_IGNITION_SIMULATION',
      message: expect.stringContaining('ENOENT') as string,
    });
  });
});

it('runs until the signal is aborted, also during a scan, and leaves no timers', async () => {
  const clock = new VirtualClock();
  await using folder = await gatewayFolder({ tls: false, clock });
  const end = new AbortController();
  const { gateway } = folder;
  await new Promise<void>((resolve, reject) => {
    gateway
      .run(end.signal, () => {
        void (async () => {
          await gateway.change({ scanMs: 60_000, automaticScanMs: 1_000 });
          await post(folder, SCAN);
          await post(folder, '/data/api/v1/scan-lock/config', {});
          end.abort();
        })().catch(reject);
      })
      .then(resolve, reject);
  });
  expect(clock.pendingTimers).toBe(0);
  await expect(fetch(gateway.url)).rejects.toThrow();
});
