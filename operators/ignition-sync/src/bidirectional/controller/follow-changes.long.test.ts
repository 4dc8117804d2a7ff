import { applyDefaults } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { availableGit } from '../../../../../test/support/git/git-program.ts';
import { bidirectionalSpec } from '../../api/experimental-spec.ts';
import type { IgnitionSyncSpec } from '../../api/ignition-sync.ts';
import { GitError } from '../../git/errors/git-error.ts';
import { type GitFixture, gitFixture } from '../../git/git-fixture.test-support.ts';
import type { OperationState } from '../../git/source/operation.ts';
import { encodeChanges } from '../changes/change-set.ts';
import type { Forge } from '../forges/forge.ts';
import { type ChangesInput, type ChangeWork, followChanges } from './follow-changes.ts';
import { gatewayBranch } from './gateway-branch.ts';

const COMMIT = 'a'.repeat(40);
const bidirectional = (changes: object = {}): IgnitionSyncSpec['bidirectional'] =>
  applyDefaults({ enabled: true, watchPaths: ['projects'], ...changes }, bidirectionalSpec.json) as never;
const sent = (commit: string, path = 'a.json', content = '{"gateway":1}'): string =>
  encodeChanges({
    gateway: 'site',
    timestamp: '2026-01-01T00:00:00Z',
    commit,
    changes: [{ path, action: 'modified', isExecutable: false, content: Buffer.from(content) }],
  })[0] ?? '';

/** Operator runs the operations that runs of a reconcile request, one after the other. */
class Operator {
  readonly results = new Map<string, OperationState<unknown>>();
  readonly #work: ((tools: ChangeWork) => Promise<unknown>)[] = [];
  readonly #names: string[] = [];

  input(more: Partial<ChangesInput> = {}): ChangesInput {
    return {
      namespace: 'ns',
      name: 'plant',
      spec: { bidirectional: bidirectional() },
      retry: '',
      commit: COMMIT,
      ref: 'main',
      gateways: [{ name: 'site', key: 'site', podName: 'site-0' }],
      data: {},
      pollMs: 60_000,
      run: <T>(name: string, _: number | undefined, work: (tools: ChangeWork) => Promise<T>) => {
        const known = this.results.get(name);
        if (known) return known as OperationState<T>;
        this.#names.push(name);
        this.#work.push(work);
        return { state: 'pending', previous: undefined };
      },
      ...more,
    };
  }

  async finish(tools: Partial<ChangeWork>): Promise<void> {
    for (const [index, work] of this.#work.entries()) {
      const name = this.#names[index] ?? '';
      try {
        this.results.set(name, {
          state: 'done',
          value: await work(tools as ChangeWork),
          dueAfterMs: Number.POSITIVE_INFINITY,
        });
      } catch (error) {
        this.results.set(name, { state: 'failed', error, retryAfterMs: 30_000, previous: undefined });
      }
    }
    this.#work.length = 0;
    this.#names.length = 0;
  }
}

describe('followChanges', () => {
  it('removes what was sent if bidirectional is off, is damaged, or is of a gateway that no longer exists', () => {
    const operator = new Operator();
    const data = { site: sent(COMMIT) };
    expect(followChanges(operator.input({ spec: {}, data }))).toMatchObject({ processed: ['site'], events: [] });
    expect(followChanges(operator.input({ data: { gone: sent(COMMIT) } })).processed).toEqual(['gone']);
    expect(followChanges(operator.input({ data: { site: 'damaged' } }))).toMatchObject({
      processed: ['site'],
      events: [{ type: 'Warning', reason: 'ChangesRefused' }],
    });
    const workflow = followChanges(operator.input({ data: { site: sent(COMMIT, '.github/workflows/a.yml') } }));
    expect(workflow.events[0]?.message).toContain('.github/workflows/a.yml: the path is reserved');
  });

  it('keeps what was sent while the push fails, and names the problem', async () => {
    const operator = new Operator();
    const input = operator.input({
      data: { site: sent(COMMIT) },
      spec: { bidirectional: bidirectional({ createPR: true }) },
    });
    expect(followChanges(input)).toMatchObject({ processed: [], problem: undefined });
    const refusal = new GitError('PushRefused', 'h does not allow the credentials to push', { host: 'h', remedy: 'x' });
    const repository = { resolve: () => Promise.reject(refusal) };
    await operator.finish({ repository } as never);
    expect(followChanges(input)).toMatchObject({
      processed: [],
      problem: { reason: 'PushRefused' },
      events: [{ reason: 'PushRefused' }],
      pullRequests: ['failed'],
      requeueAfterMs: 30_000,
    });
  });

  it('does not know what is held before the branches were queried, unless Git wins', () => {
    const operator = new Operator();
    const strategy = (conflictStrategy: string) => ({ spec: { bidirectional: bidirectional({ conflictStrategy }) } });
    expect(followChanges(operator.input(strategy('gitWins'))).isHeldKnown).toBe(true);
    expect(followChanges(operator.input(strategy('manual'))).isHeldKnown).toBe(false);
    expect(followChanges(operator.input({ ...strategy('manual'), gateways: [] })).isHeldKnown).toBe(true);
  });
});

describe('the branch of a gateway', () => {
  it.each([
    [
      'gateway-changes/{{.Namespace}}/{{.GatewayName}}',
      { gatewayName: 'Site 1' },
      { branch: 'gateway-changes/ns/Site_1' },
    ],
    ['x/{{.Labels.area}}', { labels: { area: 'north' } }, { branch: 'x/north' }],
    ['x/{{.Labels.area}}', {}, { problem: expect.stringContaining('the pod has no such label') }],
    ['x/{{.GatewayName}}', { gatewayName: 'a..b' }, { problem: expect.any(String) }],
  ])('by %s is %j', (template, variables, expected) => {
    expect(gatewayBranch(template, { namespace: 'ns', ...variables })).toEqual(expected);
  });
});

const git = await availableGit();
if ('skippedBecause' in git) it.skip(`conflicts: ${git.skippedBecause}`, () => undefined);
else
  it('scenario 19 holds conflicting files until the pull request is closed, or until retry changes', async () => {
    await using fixture = await gitFixture();
    const operator = new Operator();
    const open = new Set<string>();
    const forge: Forge = {
      findOpen: async (branch) => (open.has(branch) ? { number: 1, url: 'https://h/1' } : undefined),
      open: async ({ branch }) => {
        open.add(branch);
        return { number: 1, url: 'https://h/1' };
      },
    };
    const tools = await toolsOf(fixture, forge);
    const first = await fixture.remote.commit({ 'a.json': '{}' });
    const follow = async (more: Partial<ChangesInput>, changes: object) => {
      const input = operator.input({ ...more, spec: { bidirectional: bidirectional({ createPR: true, ...changes }) } });
      followChanges(input);
      await operator.finish(tools);
      const state = followChanges(input);
      operator.results.clear();
      return { ...state, held: Object.fromEntries(state.held) };
    };
    const pushed = await follow({ commit: first, data: { site: sent(first) }, retry: 'one' }, {});
    expect(pushed).toMatchObject({
      processed: ['site'],
      pullRequests: ['created'],
      events: [{ type: 'Normal', reason: 'PRCreated', message: expect.stringContaining('https://h/1') }],
    });
    const commit = await fixture.remote.commit({ 'a.json': '{"git":1}' });
    const held = { 'site-0': ['a.json'] };
    expect((await follow({ commit, retry: 'one' }, { conflictStrategy: 'gitWins' })).held).toEqual({});
    const wins = await follow({ commit, retry: 'one' }, { conflictStrategy: 'gatewayWins' });
    expect(wins).toMatchObject({ held, isHeldKnown: true, events: [{ reason: 'ConflictDetected' }] });
    expect((await follow({ commit, retry: 'one' }, { conflictStrategy: 'manual' })).held).toEqual(held);
    expect((await follow({ commit, retry: 'two' }, { conflictStrategy: 'manual' })).held).toEqual({});
    open.clear();
    expect((await follow({ commit, retry: 'one' }, { conflictStrategy: 'gatewayWins' })).held).toEqual({});
    const withoutPR = { conflictStrategy: 'gatewayWins', createPR: false };
    expect((await follow({ commit, retry: 'one' }, withoutPR)).held).toEqual(held);
    await fixture.remote.git('branch', '-D', 'gateway-changes/ns/site');
    expect((await follow({ commit, retry: 'one' }, withoutPR)).held).toEqual({});
  }, 60_000);

async function toolsOf({ runner, local, open }: GitFixture, forge: Forge): Promise<ChangeWork> {
  return { runner, repository: local, remote: { connection: (await open()).connection }, forge: () => forge };
}
