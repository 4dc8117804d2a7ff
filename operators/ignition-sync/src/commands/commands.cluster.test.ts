import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Namespace, Secret } from '@bowline/kubernetes';
import { applyDefaults } from '@bowline/machinery/schema';
import { installCustomResourceDefinitions, operatorIdentity } from '@bowline/runtime/install';
import { type Command, silentLog } from '@bowline/runtime/manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableGit } from '../../../../test/support/git/git-program.ts';
import { startGitServer } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { OPERATOR, objectNames } from '../api/names.ts';
import { minimal } from '../api/specs.test-support.ts';
import { type Config, config } from '../config.ts';
import { plantFiles } from '../local/git/plant-files.ts';
import { agentSettingsOf } from '../protocol/agent-settings.ts';
import { encodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { encodeMetadata } from '../protocol/metadata.ts';
import type { RolloutPlan } from '../protocol/rollout-plan.ts';
import { SAMPLE, SAMPLE_KEYS, samplesOf } from '../samples.ts';
import { approveCommand } from './approve-command.ts';
import { diffCommand } from './diff-command.ts';
import { samplePushCommand } from './sample-push-command.ts';

const OLD = '1'.repeat(40);
const NEW = '2'.repeat(40);

let c: Cluster;
beforeAll(async () => {
  c = await cluster({ prefix: 'commands' });
  const { fieldManagers } = operatorIdentity(OPERATOR);
  await installCustomResourceDefinitions(c.admin, [IgnitionSync], { fieldManager: fieldManagers.crds });
});
afterAll(() => c[Symbol.asyncDispose]());

/** runCommand runs a command as the program does, and returns its data. */
function runCommand(command: Command, args: object, options: object = {}): Promise<unknown> {
  const context = {
    args,
    options: command.options === undefined ? {} : applyDefaults(options, command.options.json),
    cluster: { client: c.admin, namespace: 'default', managerNamespace: 'default' },
    print: () => undefined,
    log: silentLog,
    signal: AbortSignal.timeout(60_000),
  };
  return command.run(context as never);
}

/** createSync creates an IgnitionSync and what its controller publishes. */
async function createSync(plan: RolloutPlan, reports: Readonly<Record<string, GatewayReport>> = {}): Promise<string> {
  const { namespace, admin } = c;
  const name = c.uniqueName('plant');
  const { spec, metadata } = await admin.create(IgnitionSync, { metadata: { namespace, name }, spec: minimal() });
  const published = encodeMetadata({
    commit: NEW,
    ref: 'main',
    trigger: '',
    gitURL: spec.git.repo,
    authType: 'none',
    knownHosts: '',
    paused: false,
    gatewayPort: 8043,
    gatewayTLS: true,
    excludePatterns: [],
    settings: agentSettingsOf(spec, applyDefaults({}, config.json) as Config),
    profiles: {},
    plan,
    rollback: undefined,
    crUID: metadata?.uid ?? '',
  });
  const names = objectNames(name);
  await admin.create(ConfigMap, { metadata: { namespace, name: names.metadata }, data: published });
  const data = Object.fromEntries(Object.entries(reports).map(([key, report]) => [key, encodeReport(report)]));
  await admin.create(ConfigMap, { metadata: { namespace, name: names.status }, data });
  return name;
}

async function waitForApproval(name: string): Promise<void> {
  const condition = {
    type: 'PendingApproval',
    status: 'True',
    reason: 'ApprovalRequired',
    message: 'stage rest waits',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const key = { namespace: c.namespace, name };
  await c.admin.patch(
    IgnitionSync,
    key,
    { type: 'merge', body: { status: { conditions: [condition] } } },
    { subresource: 'status' },
  );
}

const plan = { 'site-0': { name: 'site', key: 'site-0', commit: NEW } };

describe('approve', () => {
  it('approves the commit that waits, with all its digits, in the name of the user', async () => {
    const name = await createSync(plan);
    await waitForApproval(name);
    const sync = `${c.namespace}/${name}`;
    const approval = { sync, commit: NEW, approvedBy: expect.stringMatching(/./) };
    expect(await runCommand(approveCommand, { sync })).toEqual(approval);
    expect(await runCommand(approveCommand, { sync }, { by: 'ada', commit: NEW })).toMatchObject({ approvedBy: 'ada' });
    const { metadata } = await c.admin.get(IgnitionSync, { namespace: c.namespace, name });
    expect(metadata?.annotations).toEqual({
      'ignition-sync.io/approved-commit': NEW,
      'ignition-sync.io/approved-by': 'ada',
    });
  });

  it('approves neither another commit nor one that nothing waits for', async () => {
    const name = await createSync(plan);
    const sync = `${c.namespace}/${name}`;
    await expect(runCommand(approveCommand, { sync })).rejects.toMatchObject({
      code: 'BOWLINE_NOTHING_TO_APPROVE',
      message: expect.stringContaining('no stage waits for an approval'),
    });
    await waitForApproval(name);
    await expect(runCommand(approveCommand, { sync }, { commit: OLD })).rejects.toThrow(`that waits is ${NEW}`);
    const { metadata } = await c.admin.get(IgnitionSync, { namespace: c.namespace, name });
    expect(metadata?.annotations).toBeUndefined();
  });

  it.each(['plant', 'a/b/c', '/plant', 'a/', 'A/b'])('refuses the argument %j', async (sync) => {
    await expect(runCommand(approveCommand, { sync })).rejects.toMatchObject({
      code: 'BOWLINE_ARGUMENT_INVALID',
      message: expect.stringContaining('NAMESPACE/NAME'),
    });
  });
});

describe('diff', () => {
  const dryRun = { added: 1, modified: 2, deleted: 3 };

  it.each(['site', 'site-0'])('shows the dry run of the gateway %s', async (gateway) => {
    const report = { syncStatus: 'Synced', syncedCommit: OLD, dryRun } as const;
    const name = await createSync(plan, { 'site-0': report });
    const sync = `${c.namespace}/${name}`;
    expect(await runCommand(diffCommand, { sync, gateway })).toEqual([
      { gateway: 'site', pod: 'site-0', from: OLD, to: NEW, ...dryRun },
    ]);
  });

  it('shows no changes for a gateway that has the commit', async () => {
    const name = await createSync(plan, { 'site-0': { syncStatus: 'Synced', syncedCommit: NEW } });
    const [diff] = (await runCommand(diffCommand, { sync: `${c.namespace}/${name}`, gateway: 'site' })) as unknown[];
    expect(diff).toMatchObject({ from: NEW, to: NEW, added: 0, modified: 0, deleted: 0 });
  });

  it.each<readonly [string, string, Readonly<Record<string, GatewayReport>>]>([
    ['area', 'has no gateway "area"; it has site', {}],
    ['site', 'reports no dry run; set validation.dryRunBefore', {}],
    ['site', 'reports no dry run', { 'site-0': { syncStatus: 'Pending', syncedCommit: OLD } }],
  ])('explains why there is nothing to show for %s: it %s', async (gateway, message, reports) => {
    const name = await createSync(plan, reports);
    const sync = `${c.namespace}/${name}`;
    await expect(runCommand(diffCommand, { sync, gateway })).rejects.toThrow(message);
  });

  it('names the ConfigMap that is missing', async () => {
    const diff = runCommand(diffCommand, { sync: `${c.namespace}/none`, gateway: 'site' });
    await expect(diff).rejects.toThrow('it has no ConfigMap ignition-sync-metadata-none');
  });
});

const git = await availableGit();

describe.skipIf('skippedBecause' in git)('sample push', () => {
  it('finds the repository through the cluster, and pushes changes that arrive', async () => {
    await expect(runCommand(samplePushCommand, {})).rejects.toMatchObject({ code: 'BOWLINE_SAMPLE_MISSING' });
    const token = 'canary-77ab';
    await using server = await startGitServer({ plain: true, auth: { username: 'x-access-token', password: token } });
    const repository = await server.repositories.create('plant.git');
    await repository.commit(plantFiles());
    const repo = `${server.url}/plant.git`.replace('localhost', '127.0.0.1');
    const samples = samplesOf({ repo, ref: 'main', token, hmac: 'h', apiKey: 'k' });
    const { namespace, name } = SAMPLE;
    await c.admin.create(Namespace, { metadata: { name: namespace } });
    c.onDispose(() => c.admin.delete(Namespace, { name: namespace }));
    await c.admin.create(Secret, samples.find(({ kind }) => kind === 'Secret') as Secret);
    await c.admin.create(IgnitionSync, samples.find(({ kind }) => kind === 'IgnitionSync') as IgnitionSync);
    const view = 'main:services/site/projects/overview/com.inductiveautomation.perspective/views/main/view.json';

    const good = await runCommand(samplePushCommand, {});
    expect(good).toMatchObject({ commit: await repository.git('rev-parse', 'main'), branch: 'main', repository: repo });
    expect(JSON.parse(await repository.git('show', view))).toHaveProperty('root');
    const broken = await runCommand(samplePushCommand, {}, { broken: true });
    expect(broken).toMatchObject({ commit: await repository.git('rev-parse', 'main') });
    const text = await repository.git('show', view);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(JSON.stringify([good, broken])).not.toContain(token);

    const body = { spec: { git: { repo: 'https://git.example.com/plant.git' } } };
    await c.admin.patch(IgnitionSync, { namespace, name }, { type: 'merge', body });
    await expect(runCommand(samplePushCommand, {})).rejects.toThrow('does not use the sample repository');
    await c.admin.patch(IgnitionSync, { namespace, name }, { type: 'merge', body: { spec: { git: { repo } } } });
    await c.admin.patch(
      Secret,
      { namespace, name: SAMPLE.secret },
      { type: 'merge', body: { data: { [SAMPLE_KEYS.token]: null } } },
    );
    await expect(runCommand(samplePushCommand, {})).rejects.toThrow(`has no key ${SAMPLE_KEYS.token}`);
  });
});
