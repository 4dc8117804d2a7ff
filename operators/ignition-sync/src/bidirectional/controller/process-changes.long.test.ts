import { systemClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { parseGitUrl } from '../../git/address/git-url.ts';
import { type GitFixture, gitFixture } from '../../git/git-fixture.test-support.ts';
import { type ChangePart, decodeChanges, encodeChanges, type GatewayChange } from '../changes/change-set.ts';
import { FORGE_TOKEN, startFakeForge } from '../forges/fake-forge.test-support.ts';
import { forgeOf } from '../forges/forge-of.ts';
import { changeMessage, parseChangeMessage } from './change-message.ts';
import { decidePush } from './decide-push.ts';
import { conflictsBetween, heldPaths } from './held-paths.ts';
import {
  type ChangesRequest,
  type ChangeTools,
  outstandingChanges,
  processChanges,
  retryHash,
} from './process-changes.ts';

const [BASE, HEAD] = ['a'.repeat(40), 'b'.repeat(40)];
const origin = { owner: 'ns/plant/site', commit: BASE, id: 'one', part: 1, parts: 2, retry: 'r' };

describe('the decision about a branch', () => {
  const part = { id: 'one', part: 2, commit: BASE };
  it.each([
    ['that does not exist', undefined, { ...part, part: 1 }, { kind: 'push', parent: BASE, expected: undefined }],
    ['that was deleted between two parts', undefined, part, { kind: 'incomplete' }],
    ['of a user', { commit: HEAD, origin: undefined }, part, { kind: 'taken' }],
    ['of another gateway', { commit: HEAD, origin: { ...origin, owner: 'ns/plant/x' } }, part, { kind: 'taken' }],
    ['with the part before', { commit: HEAD, origin }, part, { kind: 'push', parent: HEAD, expected: HEAD }],
    ['with this part', { commit: HEAD, origin: { ...origin, part: 2 } }, part, { kind: 'done' }],
    [
      'with older changes',
      { commit: HEAD, origin: { ...origin, id: 'x' } },
      { ...part, part: 1 },
      { kind: 'push', parent: BASE, expected: HEAD },
    ],
    ['of an older commit', { commit: HEAD, origin: { ...origin, commit: HEAD } }, part, { kind: 'incomplete' }],
  ] as const)('%s', (_, head, sent, expected) => {
    expect(decidePush(head, origin.owner, sent)).toEqual(expected);
  });

  it('is possible from the message of a commit alone', () => {
    expect(parseChangeMessage(changeMessage(origin))).toEqual(origin);
    expect(parseChangeMessage('Merge\n\nIgnition-Sync-Gateway: x\n')).toBeUndefined();
  });
});

describe('a conflict', () => {
  const at = (path: string, hash: string | undefined) => ({ path, hash });
  it('is a path with different content on both sides', () => {
    const gateway = [
      at('both', '1'),
      at('same', '2'),
      at('gone', undefined),
      at('gateway', '3'),
      at('deleted', undefined),
    ];
    const git = [at('both', '4'), at('same', '2'), at('gone', undefined), at('git', '5'), at('deleted', '6')];
    expect(conflictsBetween(gateway, git)).toEqual(['both', 'deleted']);
  });

  it.each([
    ['gitWins', true, 'r', []],
    ['gatewayWins', true, 'r', ['a']],
    ['gatewayWins', undefined, 'r', ['a']],
    ['gatewayWins', false, 'r', []],
    ['manual', true, 'r', ['a']],
    ['manual', true, 'changed', []],
  ] as const)('with %s, an open pull request: %s, and retry %s holds %j', (strategy, isOpen, retry, held) => {
    expect(heldPaths({ strategy, conflicts: ['a'], origin, retry, isOpen })).toEqual(held);
  });
});

const git = await availableGit();
const change = (path: string, content: string | undefined): GatewayChange => ({
  path,
  action: content === undefined ? 'deleted' : 'modified',
  isExecutable: false,
  content: content === undefined ? undefined : Buffer.from(content),
});

function partsOf(commit: string, ...changes: GatewayChange[]): readonly ChangePart[] {
  const texts = encodeChanges({ gateway: 'site', timestamp: '2026-01-02T03:04:05Z', commit, changes });
  return texts.map((text) => decodeChanges('site', text));
}

const SITE = { namespace: 'ns', name: 'plant', gateway: 'site', branch: 'gateway-changes/ns/site' };
const limits = { maxFileBytes: 1_000_000, maxFiles: 100 };

async function toolsOf({ runner, local, open }: GitFixture): Promise<ChangeTools> {
  return { runner, repository: local, remote: { connection: (await open()).connection } };
}

if ('skippedBecause' in git) it.skip(`processChanges: ${git.skippedBecause}`, () => undefined);
else {
  describe('processChanges', () => {
    it('pushes changes once, and replaces them with the next changes of the gateway', async () => {
      await using fixture = await gitFixture();
      const { remote } = fixture;
      const commit = await remote.commit({ 'a.json': '{}', 'b.json': '{}' });
      const tools = await toolsOf(fixture);
      const send = async (...changes: GatewayChange[]) => {
        const [part] = partsOf(commit, ...changes);
        return part && (await processChanges(tools, { ...SITE, part, retry: '', limits }));
      };
      expect(await send(change('a.json', '{"n":1}'))).toMatchObject({ outcome: 'pushed', branch: SITE.branch });
      const first = await remote.git('rev-parse', SITE.branch);
      expect(await send(change('a.json', '{"n":1}'))).toMatchObject({ outcome: 'unchanged' });
      expect(await remote.git('rev-parse', SITE.branch)).toBe(first);
      await send(change('a.json', '{"n":1}'), change('b.json', undefined), change('c.json', '{}'));
      expect(await remote.git('rev-parse', `${SITE.branch}^`)).toBe(commit);
      expect((await remote.git('ls-tree', '--name-only', SITE.branch)).split('\n')).toEqual(['a.json', 'c.json']);
      expect(await remote.git('log', '-1', '--format=%an <%ae> %aI', SITE.branch)).toBe(
        'site <ignition-sync@ns> 2026-01-02T03:04:05+00:00',
      );
      expect(await send(change('a.json', '{}'))).toMatchObject({ outcome: 'unchanged' });
    });

    it('adds further parts of the same changes to the first', async () => {
      await using fixture = await gitFixture();
      const commit = await fixture.remote.commit({ 'a.json': '{}' });
      const tools = await toolsOf(fixture);
      const [part] = partsOf(commit, change('one.json', '1'));
      const [other] = partsOf(commit, change('two.json', '2'));
      if (!part || !other) throw new Error('a part is missing');
      const parts = [
        { ...part, parts: 2 },
        { ...other, id: part.id, part: 2, parts: 2 },
      ];
      for (const each of parts) await processChanges(tools, { ...SITE, part: each, retry: '', limits });
      const names = await fixture.remote.git('ls-tree', '--name-only', SITE.branch);
      expect(names.split('\n')).toEqual(['a.json', 'one.json', 'two.json']);
    });

    it('does not touch a branch with commits of others', async () => {
      await using fixture = await gitFixture();
      const { remote } = fixture;
      const commit = await remote.commit({ 'a.json': '{}' });
      const foreign = await remote.commit({ 'a.json': 'of a user' }, { branch: SITE.branch });
      const [part] = partsOf(commit, change('a.json', '{"n":1}'));
      const tools = await toolsOf(fixture);
      const request = { ...SITE, part: part as ChangePart, retry: '', limits };
      await expect(processChanges(tools, request)).rejects.toMatchObject({
        reason: 'PushRefused',
        message: expect.stringContaining('change bidirectional.targetBranch'),
      });
      expect(await remote.git('rev-parse', SITE.branch)).toBe(foreign);
    });

    it('refuses more or larger files than the guardrails allow, before it connects to the server', async () => {
      await using fixture = await gitFixture();
      const commit = await fixture.remote.commit({ 'a.json': '{}' });
      const tools = await toolsOf(fixture);
      const [part] = partsOf(commit, change('a', 'large content'), change('b', '2'));
      const request = { ...SITE, part: part as ChangePart, retry: '' };
      const before = fixture.server.requests.length;
      const few = processChanges(tools, { ...request, limits: { ...limits, maxFiles: 1 } });
      await expect(few).rejects.toThrow('at most 1 are allowed');
      const small = processChanges(tools, { ...request, limits: { ...limits, maxFileBytes: 5 } });
      await expect(small).rejects.toThrow('larger than 5 bytes');
      expect(fixture.server.requests.length).toBe(before);
    });

    it('opens one pull request per branch', async () => {
      const kind = 'github';
      await using fixture = await gitFixture();
      await using fake = await startFakeForge(kind);
      const commit = await fixture.remote.commit({ 'a.json': '{}' });
      const tools = await toolsOf(fixture);
      const url = parseGitUrl('https://git.example.com/team/plant.git');
      const forge = forgeOf({ url, kind, token: FORGE_TOKEN, apiBaseUrl: fake.apiBaseUrl, clock: systemClock });
      const pullRequest = { forge, base: 'main', labels: ['gateway'] };
      const send = (content: string) => {
        const [part] = partsOf(commit, change('a.json', content));
        const request: ChangesRequest = { ...SITE, part: part as ChangePart, retry: '', limits, pullRequest };
        return processChanges(tools, request);
      };
      expect(await send('1')).toMatchObject({ outcome: 'pushed', pullRequest: { number: 7, isNew: true } });
      expect(await send('2')).toMatchObject({ outcome: 'pushed', pullRequest: { number: 7, isNew: false } });
      expect([...fake.open]).toEqual([[SITE.branch, { number: 7, base: 'main', labels: ['gateway'] }]]);
    });

    it('keeps a conflict when the gateway has synced the rest of a commit, and sends its change again', async () => {
      await using fixture = await gitFixture();
      const { remote } = fixture;
      const tools = await toolsOf(fixture);
      const send = async (commit: string, retry: string, content: string) => {
        const [part] = partsOf(commit, change('a.json', content));
        return (await processChanges(tools, { ...SITE, part: part as ChangePart, retry, limits })).outcome;
      };
      const first = await remote.commit({ 'a.json': '{}' });
      expect(await send(first, 'a', '{"gateway":1}')).toBe('pushed');
      const next = await remote.commit({ 'a.json': '{"git":1}' });
      expect(await send(next, 'a', '{"gateway":1}')).toBe('unchanged');
      const outstanding = async () => (await outstandingChanges(tools, [SITE], next)).get(SITE.branch)?.conflicts;
      expect(await outstanding()).toEqual(['a.json']);
      // It was decided, or the gateway has another change: both are made with the knowledge of the commit.
      expect(await send(next, 'b', '{"gateway":1}')).toBe('pushed');
      expect(await outstanding()).toEqual([]);
    });

    it('finds what was changed on both sides since the commit of the gateway', async () => {
      await using fixture = await gitFixture();
      const { remote } = fixture;
      const commit = await remote.commit({
        'both.json': '{}',
        'gateway.json': '{}',
        'git.json': '{}',
        'same.json': '{}',
      });
      const tools = await toolsOf(fixture);
      const outstanding = async (of: string, branch = SITE) =>
        (await outstandingChanges(tools, [branch], of)).get(SITE.branch);
      expect(await outstanding(commit)).toBeUndefined();
      const changes = ['both.json', 'gateway.json', 'same.json'].map((path) => change(path, '{"gateway":1}'));
      const [part] = partsOf(commit, ...changes);
      await processChanges(tools, { ...SITE, part: part as ChangePart, retry: 'a', limits });
      const retry = retryHash('a');
      expect(await outstanding(commit)).toEqual({ conflicts: [], retry });
      const next = await remote.commit({
        'both.json': '{"git":1}',
        'git.json': '{"git":1}',
        'same.json': '{"gateway":1}',
      });
      expect(await outstanding(next)).toEqual({ conflicts: ['both.json'], retry });
      expect(await outstanding(next, { ...SITE, gateway: 'other' })).toBeUndefined();
    });
  });
}
