import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cluster, kubectlProgram, sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';

it('is a kubectl plugin when it is linked as kubectl-NAME, with the flags of kubectl', async () => {
  await using files = await temporaryFiles();
  await using c = await cluster();
  const metadata = { namespace: c.namespace, name: 'a', labels: { 'cli.test.bowline.dev/counted': '' } };
  await c.admin.create(ConfigMap, { metadata });
  const admin = await c.kubeconfig('admin');
  const { 'current-context': context, contexts } = admin;
  const elsewhere = contexts.map((each) => ({ ...each, context: { ...each.context, namespace: 'kube-public' } }));
  const kubeconfig = await files.write(
    'admin',
    JSON.stringify({ ...admin, contexts: elsewhere, 'current-context': '' }),
  );
  const folder = dirname(kubeconfig);
  await symlink(
    await bundledProgram('apps/bowline/src/testing/main.test-support.ts'),
    join(folder, 'kubectl-tool_box'),
  );

  const kubectl = await kubectlProgram(await sharedControlPlane());
  const path = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(kubectl, args, { env: { ...process.env, PATH: path } });
    return stdout;
  };
  const place = ['--kubeconfig', kubeconfig, '--context', context];
  const found = { namespace: c.namespace, manager: 'bowline-system', count: 1 };
  expect(JSON.parse(await run('tool-box', 'count', ...place, '-n', c.namespace, '-o', 'json'))).toEqual(found);
  expect(JSON.parse(await run('tool-box', '-n', c.namespace, ...place, 'count', '-o', 'json'))).toEqual(found);
  const table = await run('tool-box', 'count', ...place, '--manager-namespace', 'hub');
  expect(table).toBe('NAMESPACE     MANAGER   COUNT\nkube-public   hub       0\n');
});
