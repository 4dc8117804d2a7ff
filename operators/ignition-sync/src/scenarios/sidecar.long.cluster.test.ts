import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap, MutatingWebhookConfiguration, Pod } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableGit } from '../../../../test/support/git/git-program.ts';
import { startGitServer } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames } from '../api/names.ts';
import { CR, FIRST, POD, type SidecarScenario, startSidecarScenario, TOKEN } from './sidecar.test-support.ts';

const git = await availableGit();
const VIEW = 'projects/overview/views/view.json';
const SOURCE = `services/site/${VIEW}`;

describe.skipIf('skippedBecause' in git)('the injected sidecar', () => {
  let c: SidecarScenario;
  beforeAll(async () => {
    c = await startSidecarScenario();
  });
  afterAll(() => c[Symbol.asyncDispose]());

  it('scenario 21 syncs a gateway end to end with its own command line', async () => {
    await using agent = await c.start();
    const started = () => agent.probe('/startupz');
    await expect.poll(started, { timeout: 60_000, interval: 50 }).toBe(200);
    expect(await agent.read(VIEW)).toBe(FIRST[SOURCE]);
    const cmdline = await readFile(`/proc/${agent.running.child.pid}/cmdline`, 'utf8').catch(() => '');
    expect(cmdline).not.toContain(TOKEN);

    await using gateway = agent.gateway();
    await gateway.start();
    const first = await c.repository.git('rev-parse', 'main');
    const { status } = await c.untilSynced(first);
    expect(status?.discoveredGateways?.[0]).toMatchObject({ podName: POD, projectsSynced: ['overview'] });
    expect(gateway.loads.some(({ projects }) => projects?.includes('overview'))).toBe(true);

    const second = await c.push({ [SOURCE]: '{"version": 2}' });
    await c.untilSynced(second);
    expect(await agent.read(VIEW)).toBe('{"version": 2}');

    // The gateway has nothing to sync, but nothing is known about it any more.
    await c.admin.delete(ConfigMap, c.key(objectNames(CR).status));
    await c.untilReport(({ syncedCommit }) => syncedCommit === second);
    const { spec } = await c.admin.get(IgnitionSync, c.key(CR));
    await c.admin.delete(IgnitionSync, c.key(CR));
    await c.untilGone(IgnitionSync, c.key(CR));
    await c.admin.create(IgnitionSync, { metadata: c.key(CR), spec });
    await c.untilSynced(second);
    expect(await agent.running.stop()).toEqual({ code: 0, signal: null });
  });

  it('scenario 20 sends nothing to another server that the ConfigMap names', async () => {
    await using other = await startGitServer({ plain: true });
    await c.stop();
    const key = c.key(objectNames(CR).metadata);
    const { data: before } = await c.admin.get(ConfigMap, key);
    const { plan } = await c.metadata(CR);
    const commit = '1'.repeat(40);
    const forged = { [POD]: { ...plan[POD], commit, released: undefined } };
    const data = { gitURL: `${other.url}/plant.git`, commit, plan: JSON.stringify(forged) };
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data } });
    await using _ = await c.start();
    const { errorMessage } = await c.untilReport(({ errorReason }) => errorReason === 'OriginChanged');
    expect(errorMessage).toContain('recreate the pod');
    expect(other.requests).toEqual([]);
    await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data: before } });
    await c.restart();
  });

  it('scenario 21 finishes the sync that a killed agent began, in a pod that was recreated', async () => {
    const { agent, commit, journal } = await killedAfterJournal(c);
    await c.admin.delete(Pod, c.key(POD));
    await c.until(Pod, c.key(POD), ({ metadata }) => metadata?.uid !== agent.pod.metadata?.uid);
    await using recreated = await c.start();
    expect(recreated.sidecar.dataFolder).toBe(agent.sidecar.dataFolder);
    await using gateway = recreated.gateway();
    await gateway.start();
    await c.untilSynced(commit);
    expect(existsSync(journal)).toBe(false);
    for (let index = 0; index < FILES; index += 50) {
      expect(await recreated.read(`projects/big/files/${index}.txt`)).toBe(await sourceOf(c, commit, index));
    }
  });

  it('scenario 20 reports a pod whose webhook could not be called as MissingSidecar', async () => {
    const { items } = await c.admin.list(MutatingWebhookConfiguration);
    const isOurs = ({ webhooks }: MutatingWebhookConfiguration): boolean =>
      JSON.stringify(webhooks?.map(({ namespaceSelector }) => namespaceSelector)).includes(c.namespace);
    for (const { metadata } of items.filter(isOurs)) {
      await c.admin.delete(MutatingWebhookConfiguration, { name: metadata?.name ?? '' });
    }
    const annotations = { 'ignition-sync.io/inject': 'true', 'ignition-sync.io/cr-name': CR };
    const spec = {
      containers: [{ name: 'gateway', image: 'ignition', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', emptyDir: {} }],
    };
    // API servers observe the deletion with a delay.
    const create = async (): Promise<readonly string[]> => {
      const name = c.uniqueName('bare');
      const pod = await c.admin.create(Pod, { metadata: { ...c.key(name), annotations }, spec });
      if (pod.spec?.initContainers === undefined) return [name];
      await c.admin.delete(Pod, c.key(name));
      return [];
    };
    let bare: readonly string[] = [];
    while (bare.length === 0) bare = await create();
    const sync = await c.until(IgnitionSync, c.key(CR), ({ status }) =>
      (status?.discoveredGateways ?? []).some(
        ({ podName, syncStatus }) => podName === bare[0] && syncStatus === 'MissingSidecar',
      ),
    );
    const entry = sync.status?.discoveredGateways?.find(({ podName }) => podName === bare[0]);
    expect(entry?.message).toContain('the injection webhook was not called');
    await c.untilEvent(CR, 'MissingSidecar');
  });
});

const FILES = 600;

const sourceOf = (c: SidecarScenario, commit: string, index: number): Promise<string> =>
  c.repository.git('show', `${commit}:services/site/projects/big/files/${index}.txt`);

/** killedAfterJournal kills an agent while it places files. One that is too fast gets another commit. */
async function killedAfterJournal(c: SidecarScenario) {
  for (let attempt = 1; ; attempt++) {
    const agent = await c.start();
    const journal = join(agent.sidecar.dataFolder, '.ignition-sync', 'journal.json');
    const files = Array.from({ length: FILES }, (_, index) => [
      `services/site/projects/big/files/${index}.txt`,
      `${attempt} ${index}`,
    ]);
    const commit = await c.push({ ...Object.fromEntries(files), 'services/site/projects/big/project.json': '{}' });
    await expect.poll(() => existsSync(journal), { timeout: 60_000, interval: 1 }).toBe(true);
    await agent.running.stop('SIGKILL');
    if (existsSync(journal)) return { agent, commit, journal };
    expect(attempt).toBeLessThan(5);
  }
}
