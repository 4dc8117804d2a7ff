import { stat } from 'node:fs/promises';
import { cluster } from '@bowline/control-plane/testing';
import { apiVersionOf } from '@bowline/kubernetes';
import { untilAborted } from '@bowline/machinery';
import { controller, defineOperator } from '@bowline/runtime';
import { defineResource, s } from '@bowline/runtime/resource';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

/** Horn is a kind that no other test uses: the operator works in the whole cluster. */
const Horn = defineResource({
  group: 'cli.test.bowline.dev',
  version: 'v1',
  kind: 'Horn',
  scope: 'Namespaced',
  spec: s.object({}),
  status: s.object({}),
});

it('shows the ports of services, and removes the scratch folders of operators at the end', async () => {
  await using c = await cluster();
  const metadata = { namespace: c.namespace, name: 'a' };
  const sample = { apiVersion: apiVersionOf(Horn), kind: Horn.kind, metadata, spec: {} };
  const folders: string[] = [];
  const horn = defineOperator({
    name: 'horn',
    domain: 'bowline.dev',
    resources: [Horn],
    scratchFolder: { sizeLimit: '1Mi' },
    setup: async ({ scratchFolder }) => {
      folders.push(scratchFolder());
      expect((await stat(scratchFolder())).isDirectory()).toBe(true);
    },
    controllers: [controller(Horn).reconcile(() => {})],
    services: [
      {
        name: 'receiver',
        run: async (signal, _, { listensOn }) => {
          listensOn(4242);
          await untilAborted(signal);
        },
      },
      { name: 'poller', run: untilAborted },
    ],
    samples: [sample],
  });
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const registry = { horn: { summary: 'sounds', load: () => Promise.resolve(horn) } };
  const args = ['up', '--control-plane', 'current-context', '--yes', '--samples', '--exit-when-ready'];
  const lines = await bowline(args, { registry, env: { KUBECONFIG } });
  expect([lines.code, lines.out]).toEqual([0, expect.stringMatching(/^serves {5}horn receiver on port 4242$/m)]);
  const json = await bowline([...args, '--json'], { registry, env: { KUBECONFIG } });
  expect(JSON.parse(json.out)).toMatchObject({ services: [{ operator: 'horn', name: 'receiver', port: 4242 }] });
  expect(folders).toHaveLength(2);
  for (const folder of folders) await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
});
