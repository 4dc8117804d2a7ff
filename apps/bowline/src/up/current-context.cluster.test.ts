import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { apiVersionOf, ClusterRole, keyOf, keyString } from '@bowline/kubernetes';
import { companion, controller, defineOperator, type Sample } from '@bowline/runtime';
import { defineResource, s } from '@bowline/runtime/resource';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult } from '../testing/test-operators.test-support.ts';

/** Ribbon is a kind that no other test uses: the operator works in the whole cluster. */
const Ribbon = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Ribbon',
  scope: 'Namespaced',
  spec: s.object({ color: s.string() }),
  status: s.object({}),
});

async function upIn(
  c: Cluster,
  sample: Sample,
  ...options: string[]
): Promise<CommandResult & { readonly questions: string[] }> {
  const ribbon = defineOperator({
    name: 'ribbon',
    domain: 'bowline.dev',
    resources: [Ribbon],
    controllers: [controller(Ribbon).reconcile(() => {})],
    companions: [companion(ClusterRole, 'reader').content(() => ({ rules: [] }))],
    samples: [sample],
  });
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const questions: string[] = [];
  const ended = await bowline(['up', '--control-plane', 'current-context', '--exit-when-ready', '--json', ...options], {
    registry: { ribbon: { summary: 'ties ribbons', load: () => Promise.resolve(ribbon) } },
    env: { KUBECONFIG },
    ask: (question) => {
      questions.push(question);
      return Promise.resolve('y');
    },
  });
  return { ...ended, questions };
}

it('uses the cluster of the current context after confirmation, and creates samples there only on request', async () => {
  await using c = await cluster();
  const metadata = { namespace: c.namespace, name: 'sample' };
  const sample = { apiVersion: apiVersionOf(Ribbon), kind: Ribbon.kind, metadata, spec: { color: 'red' } };
  const controlPlane = { kind: 'current-context', url: c.controlPlane.url };

  const without = await upIn(c, sample, '--yes');
  expect(without).toMatchObject({ code: 0, err: '', questions: [] });
  expect(JSON.parse(without.out)).toMatchObject({ ready: true, controlPlane, objects: [] });
  // Its kind was installed; otherwise this request would fail.
  expect((await c.admin.list(Ribbon)).items).toEqual([]);
  const companionKey = { name: 'bowline-ribbon-reader' };
  c.onDispose(() => c.admin.delete(ClusterRole, companionKey));
  const { metadata: role } = await c.admin.get(ClusterRole, companionKey);
  expect(role?.labels).toMatchObject({
    'bowline.dev/installed-in': 'bowline-system',
    'bowline.dev/companion': 'reader',
  });

  const withSamples = await upIn(c, sample, '--samples');
  expect(withSamples).toMatchObject({ code: 0, err: '', questions: [expect.stringContaining(controlPlane.url)] });
  const objects = [{ operator: 'ribbon', kind: 'Ribbon', key: keyString(keyOf(sample)), isReady: true }];
  expect(JSON.parse(withSamples.out)).toMatchObject({ ready: true, controlPlane, objects });
  expect(await c.admin.get(Ribbon, metadata)).toMatchObject({ spec: { color: 'red' } });
});
