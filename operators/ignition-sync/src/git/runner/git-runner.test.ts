import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, vi } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { gitFixture } from '../git-fixture.test-support.ts';
import { GitRunner } from './git-runner.ts';
import { requireVersion } from './git-version.ts';

const git = await availableGit();
const waiting = { timeout: 20_000, interval: 20 };

interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/** processesOf returns the processes whose environment has this text: git and all its helpers inherit its environment. */
async function processesOf(text: string): Promise<readonly RunningProcess[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      return environment.includes(text) && command !== '' ? [{ pid, command }] : [];
    }),
  );
  return found.flat();
}

it.each([
  ['git version 2.38.0\n', '2.38.0'],
  ['git version 2.39.5 (Apple Git-154)\n', '2.39.5'],
  ['git version 3.0.1\n', '3.0.1'],
  ['git version 2.50.0.windows.1\n', '2.50.0.windows.1'],
])('accepts %j', (output, version) => {
  expect(requireVersion(output)).toBe(version);
});

it.each(['git version 2.37.9\n', 'git version 1.99.0\n', 'other program 9.9\n', ''])('refuses %j', (output) => {
  expect(() => requireVersion(output)).toThrow(expect.objectContaining({ code: 'BOWLINE_GIT_TOO_OLD' }));
});

it('reports that git is missing', async () => {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'bowline-no-git-'));
  await expect(GitRunner.open({ scratchFolder, program: '/nonexistent/git' })).rejects.toMatchObject({
    code: 'BOWLINE_GIT_MISSING',
  });
  await rm(scratchFolder, { recursive: true });
});

if ('skippedBecause' in git) it.skip(`GitRunner: ${git.skippedBecause}`, () => undefined);
else {
  describe('a server that does not answer', () => {
    it('ends with Timeout, and so do all processes of the group', async () => {
      const clock = new VirtualClock();
      await using fixture = await gitFixture({ clock });
      fixture.server.fault = { kind: 'hang' };
      const { connection } = await fixture.open();
      const ended = fixture.local.resolve(['main'], { connection }).catch((error: unknown) => error);
      await vi.waitFor(() => expect(fixture.server.requests.length).toBe(1), waiting);
      const running = await processesOf(fixture.folder);
      expect(running.filter(({ command }) => command.includes('remote-https')).length).toBeGreaterThan(0);
      await clock.advance(119_999);
      expect(await processesOf(fixture.folder)).toEqual(running);
      await clock.advance(1);
      expect(await ended).toMatchObject({
        reason: 'Timeout',
        host: fixture.server.host,
        message: `Timeout: ${fixture.server.host} did not finish within 120 s; increase gitTimeout if the repository is large; it is retried`,
      });
      expect(await processesOf(fixture.folder)).toEqual([]);
    });

    it('ends with the reason of the signal when it is aborted', async () => {
      await using fixture = await gitFixture();
      fixture.server.fault = { kind: 'hang' };
      const { connection } = await fixture.open();
      const stop = new AbortController();
      const reason = new Error('no longer needed');
      const ended = fixture.local
        .resolve(['main'], { connection, signal: stop.signal })
        .catch((error: unknown) => error);
      await vi.waitFor(() => expect(fixture.server.requests.length).toBe(1), waiting);
      stop.abort(reason);
      expect(await ended).toBe(reason);
      expect(await processesOf(fixture.folder)).toEqual([]);
    });
  });

  it('shows credentials in no command line', async () => {
    const auth = { username: 'bot', password: 'canary-token' };
    await using fixture = await gitFixture({ auth });
    fixture.server.fault = { kind: 'hang' };
    const { connection } = await fixture.open({ type: 'token', username: 'bot', token: 'canary-token' });
    const stop = new AbortController();
    const ended = fixture.local.resolve(['main'], { connection, signal: stop.signal }).catch(() => undefined);
    await vi.waitFor(() => expect(fixture.server.requests.length).toBe(1), waiting);
    const processes = await processesOf(fixture.folder);
    const basic = Buffer.from('bot:canary-token').toString('base64');
    expect(processes.length).toBeGreaterThan(1);
    for (const { command } of processes) expect(command).not.toMatch(new RegExp(`canary|${basic}`));
    // The server did receive them.
    expect(fixture.server.requests[0]?.authorization).toBe(`Basic ${basic}`);
    stop.abort();
    await ended;
  });

  describe('a server that sends too much', () => {
    it('is TooLarge when a transfer exceeds the limit, and leaves no partial pack that a later fetch keeps', async () => {
      await using fixture = await gitFixture({ maxRepositoryMiB: 8 });
      const { server, local, remote } = fixture;
      const commit = await remote.commit({ a: 'a' });
      server.fault = { kind: 'endless-pack' };
      const { connection } = await fixture.open();
      await expect(local.fetchCommit({ commit }, { connection })).rejects.toMatchObject({
        reason: 'TooLarge',
        message: expect.stringContaining(`${server.host} sends more than 8 MiB`),
      });
      server.fault = undefined;
      await local.fetchCommit({ commit }, { connection });
      expect(await readdir(join(local.folder, 'objects', 'pack'))).not.toContainEqual(expect.stringMatching(/^tmp_/));
    });

    it('is TooLarge when a list of refs makes git use more memory than allowed', async () => {
      await using fixture = await gitFixture({ maxMemoryMiB: 48 });
      fixture.server.fault = { kind: 'endless-refs' };
      const { connection } = await fixture.open();
      await expect(fixture.local.resolve(['main'], { connection })).rejects.toMatchObject({
        reason: 'TooLarge',
        message: expect.stringContaining('makes git use more than 48 MiB'),
      });
    });
  });

  it.each([
    ['ext::sh -c "touch %s"', 'ext'],
    ['file:///', 'file'],
  ])('does not use the protocol of %s', async (template) => {
    await using fixture = await gitFixture();
    const { connection } = await fixture.open();
    const canary = join(fixture.folder, 'canary');
    const url = template.replace('%s', canary);
    await expect(fixture.local.resolve(['main'], { connection: { ...connection, url } })).rejects.toMatchObject({
      reason: 'ProtocolRefused',
    });
    await expect(stat(canary)).rejects.toThrow('ENOENT');
  });

  it('takes no operand for an option', async () => {
    await using fixture = await gitFixture();
    await fixture.remote.commit({ a: 'a' });
    const { connection } = await fixture.open();
    const canary = join(fixture.folder, 'canary');
    const operands = ['origin', `--upload-pack=touch ${canary}`];
    const command = { gitDir: fixture.local.folder, connection, operands };
    expect(await fixture.runner.run({ ...command, args: ['ls-remote'] })).toBe('');
    await expect(fixture.runner.run({ ...command, args: ['fetch'] })).rejects.toMatchObject({ reason: 'GitFailed' });
    await expect(stat(canary)).rejects.toThrow('ENOENT');
  });

  it('fetches nothing for a command without a connection', async () => {
    await using fixture = await gitFixture();
    const { local, remote, runner, server } = fixture;
    const commit = await remote.commit({ a: 'a' });
    const { connection } = await fixture.open();
    await local.fetchCommit({ commit }, { connection });
    const requests = server.requests.length;
    const command = { args: ['cat-file', 'blob'], operands: [`${commit}:a`], gitDir: local.folder };
    await expect(runner.run(command)).rejects.toMatchObject({ reason: 'GitFailed' });
    // Also if the remote were configured, as by a repository of another program.
    const settings = [
      ['remote.origin.url', connection.url],
      ['remote.origin.promisor', 'true'],
      ...connection.settings,
    ] as const;
    await expect(runner.run({ ...command, settings })).rejects.toMatchObject({ reason: 'ProtocolRefused' });
    expect(server.requests.length).toBe(requests);
  });

  it('inherits nothing of the environment of this process', async () => {
    vi.stubEnv('GIT_DIR', '/nonexistent');
    vi.stubEnv('GIT_TRACE', '1');
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');
    try {
      await using fixture = await gitFixture();
      const commit = await fixture.remote.commit({ a: 'a' });
      const { connection } = await fixture.open();
      expect((await fixture.local.resolve(['main'], { connection })).get('main')?.commit).toBe(commit);
    } finally {
      vi.unstubAllEnvs();
    }
  });
}
