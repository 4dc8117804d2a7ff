import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bowline/machinery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { openAccess } from '../../git/access/open-access.ts';
import { parseGitUrl } from '../../git/address/git-url.ts';
import { GitRunner } from '../../git/runner/git-runner.ts';
import { parsePayload } from '../../receiver/parse-payload.ts';
import { GitHttpServer } from './git-http-server.ts';
import { notifyReceiver } from './notify-receiver.ts';
import { brokenFiles, changedFiles, plantFiles } from './plant-files.ts';
import { BRANCH, headOf, openPlantRepository, REPOSITORY } from './plant-repository.ts';
import { pushChange } from './push-change.ts';

const git = await availableGit();
const TOKEN = 'canary-5b1f';

describe.skipIf('skippedBecause' in git)('the sample repository', () => {
  let folder: string;
  let runner: GitRunner;
  let gitDir: string;
  let server: GitHttpServer;
  const pushed: string[] = [];
  const problems: unknown[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bowline-plant-'));
    runner = await GitRunner.open({ scratchFolder: join(folder, 'scratch') });
    gitDir = await openPlantRepository(runner, folder, systemClock);
    server = await GitHttpServer.start({
      runner,
      folder,
      token: TOKEN,
      onPush: async (repository) => {
        pushed.push(`${repository} ${await headOf(runner, gitDir)}`);
      },
      onError: (error) => problems.push(error),
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
    expect(problems).toEqual([]);
  });

  const push = (files: Readonly<Record<string, string>>): Promise<string> =>
    pushChange(runner, {
      url: server.urlOf(REPOSITORY),
      token: TOKEN,
      branch: BRANCH,
      message: 'Change a view',
      files,
      clock: systemClock,
      signal: AbortSignal.timeout(30_000),
    });
  const show = (commit: string, path: string): Promise<string> =>
    runner.run({ args: ['show'], operands: [`${commit}:${path}`], gitDir });
  const list = async (commit: string): Promise<readonly string[]> =>
    (await runner.run({ args: ['ls-tree', '-r', '--name-only', '--full-tree'], operands: [commit], gitDir }))
      .trim()
      .split('\n');

  it('has one commit with all files, also when it is opened again', async () => {
    const first = await headOf(runner, gitDir);
    expect(await openPlantRepository(runner, folder, systemClock)).toBe(gitDir);
    expect(await headOf(runner, gitDir)).toBe(first);
    expect(await list(first ?? '')).toEqual(Object.keys(plantFiles()).sort());
  });

  it('accepts a push, keeps the other files, and reports it once the commit is there', async () => {
    const before = await list(BRANCH);
    const commit = await push(changedFiles('shift 2'));
    expect(pushed).toEqual([`${REPOSITORY} ${commit}`]);
    expect(await list(commit)).toEqual(before);
    for (const [path, text] of Object.entries(changedFiles('shift 2'))) expect(await show(commit, path)).toBe(text);
  });

  it('accepts a commit that no gateway could load', async () => {
    const commit = await push(brokenFiles('shift 3'));
    for (const path of Object.keys(brokenFiles(''))) {
      const text = await show(commit, path);
      expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    }
  });

  it('reports that it does not have a commit', async () => {
    const url = parseGitUrl(server.urlOf(REPOSITORY));
    await using access = await openAccess({ runner, url, credentials: { type: 'token', token: TOKEN } });
    const { connection } = access;
    const fetched = runner.run({
      args: ['fetch', '--no-tags', '--depth=1'],
      operands: ['origin', '1'.repeat(40)],
      gitDir,
      connection,
    });
    await expect(fetched).rejects.toMatchObject({ reason: 'CommitGone' });
  });

  it('refuses a wrong token, and serves nothing but repositories', async () => {
    const url = parseGitUrl(server.urlOf(REPOSITORY));
    const refs = async (token: string): Promise<string> => {
      await using access = await openAccess({ runner, url, credentials: { type: 'token', token } });
      return await runner.run({ args: ['ls-remote'], operands: ['origin'], gitDir, connection: access.connection });
    };
    expect(await refs(TOKEN)).toContain(`refs/heads/${BRANCH}`);
    await expect(refs('wrong')).rejects.toMatchObject({ reason: 'AuthenticationFailed' });
    for (const path of ['/', '/scratch/config', `/${REPOSITORY}/HEAD`, `/${REPOSITORY}/../x.git/info/refs`]) {
      const headers = { authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` };
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
      expect([path, response.status]).toEqual([path, 404]);
      await response.body?.cancel();
    }
  });
});

it('calls the receiver with a signed push event that it understands', async () => {
  const received: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  await using stub = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(received.length > 1 ? 401 : 202).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => stub.once('listening', resolve));
  const push = {
    url: `http://127.0.0.1:${(stub.address() as AddressInfo).port}/webhook/a/plant`,
    secret: 'canary-91aa',
    repository: 'plant',
    branch: 'main',
    before: '1'.repeat(40),
    after: '2'.repeat(40),
  };
  await notifyReceiver(push, AbortSignal.timeout(10_000));
  const [{ headers, body } = { headers: {}, body: '' }] = received;

  const signature = createHmac('sha256', push.secret).update(body).digest('hex');
  expect(headers).toMatchObject({ 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}` });
  expect(parsePayload(headers, JSON.parse(body))).toMatchObject({ source: 'github' });
  await expect(notifyReceiver(push, AbortSignal.timeout(10_000))).rejects.toMatchObject({
    code: 'BOWLINE_SAMPLE_WEBHOOK',
    message: expect.not.stringContaining(push.secret),
  });
});
