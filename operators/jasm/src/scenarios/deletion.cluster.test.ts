import { Deployment, Pod, Secret } from '@bowline/kubernetes';
import type { RbacManifest } from '@bowline/runtime/install';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANAGED_BY, POD_ANNOTATIONS, SECRET_ANNOTATIONS } from '../api/names.ts';
import { entry, jasmCluster, podSpec, secretKey, textOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

/** The default grace period. */
const GRACE_MS = 300_000;
const MINUTE_MS = 60_000;

let c: Scenario;
beforeAll(async () => {
  c = await startScenario({ config: { allowDeletion: true } });
  await c.aws.put(c.path('any'), { password: 'x' });
});
afterAll(() => c[Symbol.asyncDispose]());

/**
 * asks creates a pod that requests a Secret with a deletion policy, and waits until the Secret records the combined
 * policy of all requesters.
 */
async function asks(pod: string, secretName: string, deletionPolicy: string, together = deletionPolicy): Promise<void> {
  await c.createPod(pod, c.fromAws('any', { secretName, deletionPolicy }));
  await c.untilEvent(pod, 'SecretSyncSuccess');
  await c.untilSecret(secretName, (secret) => (policyOf(secret) ?? 'Retain') === together);
}

function policyOf({ metadata }: Secret): string | undefined {
  return metadata?.annotations?.[SECRET_ANNOTATIONS.deletionPolicy];
}

/** leaves deletes pods, and waits until the operator has observed that. */
async function leaves(...pods: readonly string[]): Promise<void> {
  for (const pod of pods) await c.admin.delete(Pod, secretKey(c, pod));
  await seen();
}

/** seen waits until the operator has observed all changes of pods so far: it has served a later one. */
async function seen(): Promise<void> {
  const name = c.uniqueName('later');
  await c.createPod(name, c.fromAws('any', { secretName: name }));
  await c.untilEvent(name, 'SecretSyncSuccess');
  await c.idle();
}

const exists = async (name: string): Promise<boolean> => (await c.admin.find(Secret, secretKey(c, name))) !== undefined;

const untilGone = (name: string): Promise<void> => c.untilGone(Secret, { name });

describe('scenario 14', () => {
  it('scenario 14 deletes a Secret when the grace period after its last pod has passed, and not before', async () => {
    await asks('last-1', 'last', 'Delete');
    await asks('last-2', 'last', 'Delete');
    await leaves('last-1');
    await c.advanceTime(2 * GRACE_MS);
    await leaves('last-2');
    await c.advanceTime(GRACE_MS - MINUTE_MS);
    expect(await exists('last')).toBe(true);
    await c.advanceTime(2 * MINUTE_MS);
    await untilGone('last');
  });

  it('scenario 14 keeps a Secret that is to be retained, or that one of its requesters retains', async () => {
    await asks('retain', 'retained', 'Retain');
    await asks('mixed-1', 'mixed', 'Delete');
    await asks('mixed-2', 'mixed', 'Retain');
    await leaves('retain', 'mixed-1', 'mixed-2');
    await c.advanceTime(3 * GRACE_MS);
    expect(await exists('retained')).toBe(true);
    expect(await exists('mixed')).toBe(true);
  });

  it('scenario 14 keeps a Secret that is requested again within the grace period, and then starts the period again', async () => {
    await asks('again-1', 'again', 'Delete');
    await leaves('again-1');
    await c.advanceTime(GRACE_MS - MINUTE_MS);
    await asks('again-2', 'again', 'Delete');
    await c.advanceTime(2 * GRACE_MS);
    expect(await exists('again')).toBe(true);
    await leaves('again-2');
    await c.advanceTime(GRACE_MS - MINUTE_MS);
    expect(await exists('again')).toBe(true);
    await c.advanceTime(2 * MINUTE_MS);
    await untilGone('again');
  });

  it('scenario 14 keeps a Secret while a pod is terminating', async () => {
    const finalizer = 'test.bowline.dev/hold';
    const key = secretKey(c, 'leaving');
    await c.createPod('leaving', c.fromAws('any', { secretName: 'leaving', deletionPolicy: 'Delete' }), {
      metadata: { finalizers: [finalizer] },
    });
    await c.untilSecret('leaving');
    await leaves('leaving');
    await c.advanceTime(2 * GRACE_MS);
    expect(await exists('leaving')).toBe(true);
    await c.admin.patch(Pod, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    await seen();
    await c.advanceTime(GRACE_MS + MINUTE_MS);
    await untilGone('leaving');
  });

  it('scenario 14 deletes an unused Secret after a restart, when the whole grace period has passed', async () => {
    await asks('restart', 'restart', 'Delete');
    await leaves('restart');
    await c.advanceTime(GRACE_MS - MINUTE_MS);
    await c.restart();
    await c.idle();
    await c.advanceTime(GRACE_MS - MINUTE_MS);
    expect(await exists('restart')).toBe(true);
    await c.advanceTime(2 * MINUTE_MS);
    await untilGone('restart');
  });

  it('scenario 14 waits while a pod of the namespace has an invalid annotation', async () => {
    await asks('clear', 'unclear', 'Delete');
    await c.createPod('typo', 'secretNme: unclear');
    await c.untilEvent('typo', 'AnnotationInvalid');
    await leaves('clear');
    await c.advanceTime(3 * GRACE_MS);
    expect(await exists('unclear')).toBe(true);
    await leaves('typo');
    await c.advanceTime(2 * GRACE_MS);
    await untilGone('unclear');
  });

  it('scenario 14 never deletes a Secret that is no longer ours', async () => {
    await asks('handed', 'handed', 'Delete');
    const body = { metadata: { labels: { [MANAGED_BY]: 'somebody' } } };
    await c.admin.patch(Secret, secretKey(c, 'handed'), { type: 'merge', body });
    await leaves('handed');
    await c.advanceTime(2 * GRACE_MS);
    expect(await exists('handed')).toBe(true);
  });

  it('scenario 14 treats all pods of a Deployment as one requester, and deletes its Secret when it is scaled down', async () => {
    const key = secretKey(c, 'scaled');
    const labels = { app: 'scaled' };
    const annotations = {
      [POD_ANNOTATIONS.secretSync]: textOf(c.fromAws('any', { secretName: 'scaled', deletionPolicy: 'Delete' })),
    };
    const template = { metadata: { labels, annotations }, spec: podSpec() };
    await c.admin.create(Deployment, {
      metadata: key,
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    await c.untilSecret('scaled');
    const untilPods = (count: number) =>
      c.untilList(Pod, { labelSelector: 'app=scaled' }, (pods) => pods.length === count);
    for (const replicas of [1, 0]) {
      await c.admin.patch(Deployment, key, { type: 'merge', body: { spec: { replicas } } });
      await untilPods(replicas);
      await seen();
      await c.advanceTime(GRACE_MS + MINUTE_MS);
      if (replicas > 0) expect(await exists('scaled')).toBe(true);
    }
    await untilGone('scaled');
  });
});

it('scenario 14 deletes nothing, and has no permission to, unless the operator allows deletion', async () => {
  let manifests: readonly RbacManifest[] = [];
  await using other = await jasmCluster({
    modifyRbac: (given) => {
      manifests = given;
      return given;
    },
  });
  other.store.addSecret('/any', { password: 'x' });
  await other.createPod('web', entry('/any', 'db', { deletionPolicy: 'Delete' }));
  await other.untilSecret('db', (secret) => policyOf(secret) === 'Delete');
  await other.admin.delete(Pod, secretKey(other, 'web'));
  await other.createPod('later', entry('/any', 'later'));
  await other.untilSecret('later');
  await other.advanceTime(2 * GRACE_MS);
  expect(await other.admin.find(Secret, secretKey(other, 'db'))).toBeDefined();
  const rules = manifests.flatMap((manifest) => ('rules' in manifest ? (manifest.rules ?? []) : []));
  expect(rules.filter(({ resources = [] }) => resources.includes('secrets'))).not.toEqual([]);
  expect(rules.flatMap(({ verbs }) => verbs).filter((verb) => verb.startsWith('delete'))).toEqual([]);
});
