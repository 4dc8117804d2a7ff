import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { applyInstallNamespaces } from './apply-install-namespaces.ts';
import { installNamespace } from './install-namespace.ts';
import { defineOperator } from './operator.ts';
import { withConfig } from './with-config.ts';

const ENFORCE = 'pod-security.kubernetes.io/enforce';

async function applyIn(c: Awaited<ReturnType<typeof cluster>>, name: string, labels: Readonly<Record<string, string>>) {
  const work = installNamespace('work', () => name, { labels });
  const operator = defineOperator({
    name: 'spire',
    domain: 'example.com',
    namespaces: [work],
    controllers: [controller(ConfigMap, { namespaces: [work.name] }).reconcile(() => {})],
  });
  return await applyInstallNamespaces(c.admin, await withConfig(operator, undefined));
}

it('creates a namespace with its labels, and writes nothing when nothing changed', async () => {
  await using c = await cluster();
  const name = c.uniqueName('operands');
  c.onDispose(() => c.admin.delete(Namespace, { name }));
  const labels = { [ENFORCE]: 'privileged' };
  const result = (outcome: string) => [{ name, outcome, conflictingLabels: [] }];
  expect(await applyIn(c, name, labels)).toEqual(result('created'));
  expect(await applyIn(c, name, labels)).toEqual(result('unchanged'));
  expect(await applyIn(c, name, { [ENFORCE]: 'baseline' })).toEqual(result('configured'));
  const { metadata } = await c.admin.get(Namespace, { name });
  expect(metadata?.labels).toMatchObject({ [ENFORCE]: 'baseline' });
});

it('adds missing labels to a namespace of another owner, and changes none that it has', async () => {
  await using c = await cluster();
  const name = c.uniqueName('operands');
  const theirs = { [ENFORCE]: 'restricted', team: 'platform' };
  await c.admin.create(Namespace, { metadata: { name, labels: theirs } });
  c.onDispose(() => c.admin.delete(Namespace, { name }));
  const labels = { [ENFORCE]: 'privileged', 'example.com/operands': 'yes' };
  const results = [await applyIn(c, name, labels), await applyIn(c, name, labels), await applyIn(c, name, {})];
  expect(results).toEqual([
    [{ name, outcome: 'configured', conflictingLabels: [ENFORCE] }],
    [{ name, outcome: 'unchanged', conflictingLabels: [ENFORCE] }],
    [{ name, outcome: 'unchanged', conflictingLabels: [] }],
  ]);
  const { metadata } = await c.admin.get(Namespace, { name });
  expect(metadata?.labels).toMatchObject({ ...theirs, 'example.com/operands': 'yes' });
});
