import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

it('passes a command the cluster of its kubeconfig and context, and the selected namespace', async () => {
  await using files = await temporaryFiles();
  await using c = await cluster();
  const admin = await c.kubeconfig('admin');
  const named = { ...admin, 'current-context': '' };
  const kubeconfig = await files.write('admin', JSON.stringify(named));
  const context = admin['current-context'];
  const place = ['--kubeconfig', kubeconfig, '--context', context, '--namespace', c.namespace];
  const { code, out, err } = await bowline(['badge', 'text', 'set', 'words', 'one', 'two', '--loud', ...place]);
  expect({ code, out, err }).toEqual({ code: 0, out: `${c.namespace}/words has 2 words\n`, err: '' });
  const { data } = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'words' });
  expect(data).toEqual({ text: 'ONE TWO' });
  const again = await bowline(['badge', 'text', 'set', 'words', 'three', ...place]);
  expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/BOWLINE_API_ALREADY_EXISTS/) });
});
