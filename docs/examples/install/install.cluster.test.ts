import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cluster, kubectlOf } from '@bowline/control-plane/testing';
import { type KubernetesObject, Namespace, Pod, type PodSpec, ServiceAccount } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { operators } from '../../../apps/bowline/src/operators/operators.ts';
import { bowline } from '../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

/** What the examples set, of all that can be set. */
interface Fields extends Pick<PodSpec, 'volumes' | 'nodeSelector' | 'tolerations' | 'priorityClassName'> {
  readonly serviceAccount?: { readonly annotations: Readonly<Record<string, string>> };
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  readonly env?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

interface Example {
  readonly operators: readonly [string];
  readonly install: Fields & { readonly perOperator?: boolean; readonly operators?: Readonly<Record<string, Fields>> };
}

const textOf = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');

/** The configurations of the pages that say how operators are installed. */
const examples = ['docs/examples/install', 'docs/operators/jasm/examples']
  .flatMap((folder) => sourceFiles(folder, '.yaml'))
  .filter((file) => /^operators: .*\ninstall:/.test(textOf(file)));

it('pages show installs', () => {
  expect(examples.length).toBeGreaterThan(7);
});

it.each(examples)('%s renders pods that the restricted Pod Security Standard allows', async (file) => {
  await using c = await cluster({ prefix: 'install' });
  const kubectl = await kubectlOf(c);
  const home = await c.createNamespace('manager');
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await c.admin.patch(Namespace, { name: home }, { type: 'merge', body: { metadata: { labels } } });
  // In one namespace, because webhooks that nobody serves would refuse the objects of other tests.
  const place = ['--namespace', home, '--namespaces', home];
  const args = ['manifests', '--config', join(repositoryRoot, file), '-o', 'json', ...place];
  const { out, err } = await bowline(args, { registry: operators });
  expect(err).toBe('');
  const { items } = JSON.parse(out) as { items: readonly KubernetesObject[] };
  const own = items.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: own });
  c.onDispose(() => kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], list));
  await kubectl(['apply', '--server-side', '-f', '-'], list);

  const { operators: names, install } = parse(textOf(file)) as Example;
  const wanted: Fields = { ...install, ...install.operators?.[names[0]] };
  const name = install.perOperator ? `bowline-${names[0]}` : 'bowline';
  const account = await c.admin.get(ServiceAccount, { namespace: home, name });
  expect(account.metadata?.annotations ?? {}).toMatchObject(wanted.serviceAccount?.annotations ?? {});
  // The controller of the Deployment makes them, which admission lets pass or not.
  const [pod] = await c.untilList(Pod, { namespace: home }, (pods) => pods.length > 0);
  expect(pod?.metadata?.labels).toMatchObject(wanted.podLabels ?? {});
  expect(pod?.metadata?.annotations).toMatchObject(wanted.podAnnotations ?? {});
  const { nodeSelector = {}, tolerations = [], priorityClassName, volumes = [], volumeMounts = [] } = wanted;
  expect(pod?.spec?.serviceAccountName).toBe(name);
  expect(pod?.spec?.nodeSelector ?? {}).toEqual(nodeSelector);
  expect(pod?.spec?.tolerations ?? []).toEqual(expect.arrayContaining([...tolerations]));
  if (priorityClassName) expect(pod?.spec?.priorityClassName).toBe(priorityClassName);
  const [container] = pod?.spec?.containers ?? [];
  expect(container?.env ?? []).toEqual(wanted.env ?? []);
  // The API server adds the token of the account.
  expect(container?.volumeMounts?.slice(1, -1)).toEqual(volumeMounts);
  expect(pod?.spec?.volumes?.slice(1, -1)).toMatchObject(volumes);
});
