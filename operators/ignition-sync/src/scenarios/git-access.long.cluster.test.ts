import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import type { Log } from '@bowline/runtime';
import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { GROUP } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

/** Every secret value of this file contains it. */
const CANARY = 'canary-b7f1c2';
const TOKEN = `${CANARY}-token`;

let c: ControllerScenario;
let workFolder: string;
const lines: string[] = [];
const metrics = createMetrics();

function recordingLog(fields: object = {}): Log {
  const write = (message: string, more?: object): void => void lines.push(inspectAll({ message, ...fields, ...more }));
  return { debug: write, info: write, warn: write, error: write, with: (more) => recordingLog({ ...fields, ...more }) };
}

/** inspectAll prints errors with their causes. */
function inspectAll(value: object): string {
  return JSON.stringify(value, (_, each: unknown) =>
    each instanceof Error ? { ...each, message: each.message, stack: each.stack, cause: each.cause } : each,
  );
}

beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), 'bowline-ignition-work-'));
  c = await startControllerScenario({
    gitServer: { plain: false, auth: { username: 'x-access-token', password: TOKEN } },
    config: { 'ignition-sync': { workFolder } },
    log: recordingLog(),
    metrics,
  });
  c.onDispose(() => rm(workFolder, { recursive: true, force: true }));
  await c.secret('token', { value: TOKEN });
  await c.secret('wrong', { value: `${CANARY}-wrong` });
  await c.secret('ca', { value: c.git.ca });
});
afterAll(() => c[Symbol.asyncDispose]());

const ref = (name: string) => ({ name, key: 'value' });
const withToken = (name: string) => ({ auth: { token: { secretRef: ref(name) } }, caSecretRef: ref('ca') });

it('scenario 05 reads a repository with a token and a private certificate authority', async () => {
  await c.sync('token', { git: withToken('token') });
  await c.untilCondition('token', 'RepoCloned', { status: 'True' });
  expect(await c.metadata('token')).toMatchObject({ authType: 'token', gitURL: c.repo });
});

it('scenario 05 reports refused credentials, an unknown certificate and an unknown repository', async () => {
  await c.sync('wrong', { git: withToken('wrong') });
  await c.sync('untrusted', { git: { auth: { token: { secretRef: ref('token') } } } });
  await c.sync('absent', { git: { ...withToken('token'), repo: `${c.git.url}/absent.git` } });
  const reports = (name: string, message: string) =>
    c.untilCondition(name, 'RepoCloned', { status: 'False', reason: 'CloneFailed', message });
  await reports('wrong', 'AuthenticationFailed: .* refused the credentials with status 401; check that the Secret');
  await reports('untrusted', 'TlsFailed: .* set git.caSecretRef');
  await reports('absent', 'RepositoryNotFound: ');
  // The failures of one source do not affect the other IgnitionSyncs of the server.
  await c.untilCondition('token', 'RepoCloned', { status: 'True' });
});

it('scenario 05 uses a changed token with the next retry', async () => {
  await c.secret('rotated', { value: `${CANARY}-old` });
  await c.sync('rotated', { git: withToken('rotated') });
  await c.untilCondition('rotated', 'RepoCloned', { status: 'False', message: 'AuthenticationFailed' });
  const body = { data: { value: Buffer.from(TOKEN).toString('base64') } };
  await c.admin.patch(Secret, c.key('rotated'), { type: 'merge', body });
  await c.advanceTime(30_000);
  await c.untilCondition('rotated', 'RepoCloned', { status: 'True' });
});

it('scenario 05 follows no redirect, and sends the token to no other host', async () => {
  await c.sync('redirected', { git: { ...withToken('token'), repo: `${c.git.url}/redirected.git` } });
  await c.untilCondition('redirected', 'RepoCloned', { status: 'False', message: 'RepositoryNotFound' });
  c.git.fault = { kind: 'redirect', to: 'https://elsewhere.example' };
  await c.change('redirected', { siteNumber: '1' });
  await c.untilCondition('redirected', 'RepoCloned', {
    message: 'Redirected: .* redirects to elsewhere.example, .* set git.repo to the final address',
  });
  c.git.fault = undefined;
});

it('scenario 05 passes no credential to git in its arguments', async () => {
  c.git.fault = { kind: 'hang' };
  await c.sync('arguments', { git: { ...withToken('token'), repo: `${c.git.url}/arguments.git` } });
  // A process that was just started may not have its command line yet, or prepare the repository.
  const commands: string[] = [];
  const look = async (): Promise<string> => {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      if (folder.startsWith(workFolder)) commands.push(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
    }
    return commands.join('\n');
  };
  await expect.poll(look).toContain('ls-remote');
  expect(commands.join('\n')).not.toContain(CANARY);
  c.git.fault = undefined;
  await c.admin.delete(IgnitionSync, c.key('arguments'));
});

it('scenario 05 refuses an author who may not read a Secret, and does not act on an IgnitionSync that was not reviewed', async () => {
  const syncs = { apiGroups: [GROUP], resources: ['ignitionsyncs'], verbs: ['create', 'patch', 'get'] };
  const { client } = await c.serviceAccount({ rules: [syncs] });
  const spec = {
    git: { repo: 'https://attacker.example/plant.git', ref: 'main', ...withToken('token') },
    gateway: { apiKeySecretRef: { name: 'api-key', key: 'key' } },
  };
  const create = (namespace: string) => IgnitionSync.withDefaults({ metadata: { namespace, name: 'stolen' }, spec });
  const error = await refusalOf(client.create(IgnitionSync, create(c.namespace)));
  expect(error.message).toMatch(/lacks permissions that this IgnitionSync needs: .*get secret token in namespace/);
  const requests = c.git.requests.length;
  await c.admin.create(IgnitionSync, create(c.managerNamespace));
  const sync = await c.until(IgnitionSync, { namespace: c.managerNamespace, name: 'stolen' }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, reason }) => type === 'Ready' && reason === 'AuthorNotReviewed'),
  );
  expect(sync.status?.repoCloneStatus).toBeUndefined();
  await c.idle();
  const reads = c.requests.filter((request) => request.startsWith(`get secrets ${c.managerNamespace}/`));
  expect(reads.filter((request) => !request.includes('webhook-tls'))).toEqual([]);
  expect(c.git.requests.length).toBe(requests);
  await c.admin.delete(IgnitionSync, { namespace: c.managerNamespace, name: 'stolen' });
});

it('scenario 05 keeps one repository for each source that is in use', async () => {
  const repositories = async (): Promise<number> => {
    const [root = ''] = await readdir(workFolder);
    return (await readdir(join(workFolder, root))).filter((name) => name.endsWith('.git')).length;
  };
  // token and rotated have the same source now; wrong, untrusted, absent and redirected have others.
  await expect.poll(repositories).toBe(5);
});

it('scenario 05 leaks no secret into logs, events, status, ConfigMaps, metrics, command lines and files', async () => {
  const [events, configMaps, syncs] = await Promise.all([
    c.admin.list(Event, { namespace: c.namespace }),
    c.admin.list(ConfigMap, { namespace: c.namespace }),
    c.admin.list(IgnitionSync, { namespace: c.namespace }),
  ]);
  const files = await contentsBelow(workFolder);
  const texts = { lines, events, configMaps, syncs, files, metrics: await metrics.render() };
  expect(lines.length).toBeGreaterThan(0);
  expect(files.length).toBeGreaterThan(0);
  for (const [name, value] of Object.entries(texts)) {
    const text = JSON.stringify(value);
    expect(text.includes(CANARY), name).toBe(false);
    expect(text.includes(Buffer.from(TOKEN).toString('base64').slice(0, 20)), name).toBe(false);
  }
});

/** contentsBelow returns the content of all files of a folder. */
async function contentsBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
}
