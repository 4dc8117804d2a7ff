import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMapSync } from '@bowline/configmap-sync';
import { startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { cluster, sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap, Lease, Namespace } from '@bowline/kubernetes';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { describe, expect, it } from 'vitest';
import { controllerRuntimePeer } from '../../bench/support/peers.ts';
import { type Command, SubjectProcess } from '../../bench/support/subject-process.ts';

const READY_MS = 60_000;

describe('a Go operator on the embedded control plane', { timeout: 300_000 }, () => {
  it('fills its informers, becomes leader, writes copies and their status, and hands over leadership', async (context) => {
    await sharedControlPlane(); // If the real control plane cannot be built, neither can a Go operator.
    const peer = await controllerRuntimePeer(() => {});
    if ('skippedBecause' in peer) return context.skip(`skipped the controller-runtime program: ${peer.skippedBecause}`);
    const errors: unknown[] = [];
    await using controlPlane = await startControlPlane({ kind: 'embedded', onError: (error) => errors.push(error) });
    await using c = await cluster({ controlPlane, prefix: 'go' });
    await using home = temporaryFolder();
    const kubeconfig = join(home.path, 'kubeconfig');
    await writeKubeconfig(kubeconfig, await controlPlane.kubeconfig('admin'));
    const start = (shape: string, ...more: readonly string[]): SubjectProcess =>
      new SubjectProcess(peer.command satisfies Command, ['-kubeconfig', kubeconfig, '-shape', shape, ...more]);

    const data = { greeting: 'hello', empty: '' };
    const source = await c.admin.create(ConfigMap, {
      metadata: { name: 'source', namespace: c.namespace },
      data,
      binaryData: { bytes: 'AAH/' },
    });
    // Every namespace gets one of these shortly after its creation.
    const namespaces = (await c.admin.list(Namespace, {})).items.length;
    const roots = { namespace: undefined, fieldSelector: 'metadata.name=kube-root-ca.crt' };
    await c.untilList(ConfigMap, roots, (items) => items.length === namespaces);
    const all = (await c.admin.list(ConfigMap, {})).items.length;
    {
      await using cache = start('cache');
      expect(await cache.next(READY_MS)).toMatchObject({ objects: all });
      await using operator = start('operator', '-objects', String(all));
      expect(await operator.next(READY_MS)).toMatchObject({ objects: all });
    }
    const lease = { namespace: 'default', name: 'bench-controller-runtime' };
    await c.until(Lease, lease, ({ spec }) => !spec?.holderIdentity);

    await installCustomResourceDefinitions(c.admin, [ConfigMapSync]);
    await using leader = start('sync');
    expect(await leader.next(READY_MS)).toEqual({ ready: true });
    await using successor = start('sync');
    const team = { matchLabels: { team: c.namespace } };
    const teamNamespace = async (): Promise<string> => {
      const name = await c.createNamespace('team');
      await c.admin.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels: team.matchLabels } } });
      return name;
    };
    const first = await teamNamespace();
    const key = { namespace: c.namespace, name: 'copies' };
    const spec = {
      sourceNamespace: c.namespace,
      configMapName: 'source',
      destinationSelector: team,
      targetName: 'copy',
    };
    await c.admin.create(ConfigMapSync, ConfigMapSync.withDefaults({ metadata: key, spec }));
    const copy = await c.until(ConfigMap, { namespace: first, name: 'copy' }, () => true);
    expect(copy).toMatchObject({ data, binaryData: source.binaryData });
    expect(copy.metadata?.managedFields).toMatchObject([{ manager: 'peer', operation: 'Update', apiVersion: 'v1' }]);
    await c.until(ConfigMapSync, key, ({ status }) => status?.syncedCount === 1);

    const second = await teamNamespace();
    const lost = await c.until(ConfigMap, { namespace: second, name: 'copy' }, () => true);
    await c.until(ConfigMapSync, key, ({ status }) => status?.syncedCount === 2 && status.totalCount === 2);
    const body = { data: { greeting: 'ahoy' } };
    await c.admin.patch(ConfigMap, { namespace: c.namespace, name: 'source' }, { type: 'merge', body });
    await c.until(ConfigMap, { namespace: first, name: 'copy' }, (now) => now.data?.greeting === 'ahoy');

    await leader.release();
    expect(await successor.next(READY_MS)).toEqual({ ready: true });
    controlPlane.faults.cutWatches();
    await c.admin.delete(ConfigMap, { namespace: second, name: 'copy' });
    await c.until(ConfigMap, { namespace: second, name: 'copy' }, (now) => now.metadata?.uid !== lost.metadata?.uid);
    expect(errors).toEqual([]);
  });
});

function temporaryFolder(): { readonly path: string } & AsyncDisposable {
  const path = mkdtempSync(join(tmpdir(), 'bowline-go-'));
  return { path, [Symbol.asyncDispose]: async () => rmSync(path, { recursive: true, force: true }) };
}
