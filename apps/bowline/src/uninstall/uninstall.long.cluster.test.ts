import { cluster, kubectlOf } from '@bowline/control-plane/testing';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Lease,
  Namespace,
  NetworkPolicy,
  Pod,
  Role,
  Secret,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { startBowline, temporaryFiles } from '../testing/child-process.test-support.ts';
import { install, retryUntilAdmitted } from '../testing/install.test-support.ts';
import { bowline, Medal } from '../testing/test-operators.test-support.ts';

const crd = { name: 'medals.cli.test.bowline.dev' };
const finalizer = 'cli.test.bowline.dev/finalizer';

describe('bowline uninstall', () => {
  it('asks for confirmation, keeps objects, CRDs and copies, and continues where it was killed', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const { home, start } = await install(c, files, ['--operators', 'medal,sticker']);
    const elsewhere = await c.createNamespace('elsewhere');
    const other = await install(c, files, ['--operators', 'medal', '--namespaces', elsewhere]);
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig];
    const medal = { namespace: c.namespace, name: 'a' };
    const bystander = { namespace: home, name: 'bystander', labels: { 'app.kubernetes.io/part-of': 'bowline' } };
    await c.admin.create(ConfigMap, { metadata: bystander });
    {
      await using manager = await start();
      await c.until(ValidatingWebhookConfiguration, { name: `bowline-medal-${home}` }, ({ webhooks }) =>
        Boolean(webhooks?.[0]?.clientConfig.caBundle),
      );
      await manager.logged(/serving webhooks/);
      await retryUntilAdmitted(() =>
        c.admin.create(Medal, Medal.withDefaults({ metadata: medal, spec: { text: 'gold' } })),
      );
      await c.until(ConfigMap, medal, ({ data }) => data?.text === 'gold');
      await manager.stop();
    }

    const shared = await bowline([...uninstall, '--operators', 'medal', '--yes']);
    expect(shared.err).toMatch(
      /also runs sticker; apply `bowline manifests --operators sticker …` first.*UNINSTALL_SHARED/,
    );
    expect(shared.code).toBe(1);
    const unasked = await bowline(uninstall);
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining('no terminal for the confirmation; pass --yes'),
    ]);
    const declined = await bowline(uninstall, { ask: () => Promise.resolve('no') });
    expect([declined.code, declined.err]).toEqual([1, expect.stringContaining('the plan was not confirmed')]);
    expect(unasked.out).toMatch(/1\. webhooks +ValidatingWebhookConfiguration bowline-medal-/);
    expect(unasked.out).toMatch(/finalizers +of 1 Medal/);
    const { out } = await bowline([...uninstall, '--dry-run', '-o', 'json']);
    const plan = JSON.parse(out) as { steps: { name: string }[]; operators: string[] };
    expect(plan.operators).toEqual(['medal', 'sticker']);
    expect(plan.steps.map(({ name }) => name)).toEqual([
      'webhooks',
      'workloads',
      'rights',
      'leftovers',
      'configuration',
    ]);
    await c.admin.get(Deployment, { namespace: home, name: 'bowline' });

    await using killed = await startBowline([...uninstall, '--yes']);
    await killed.logged(/removed ValidatingWebhookConfiguration/);
    expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    expect((await c.admin.get(Medal, medal)).metadata?.finalizers).toEqual([finalizer]);
    const again = await bowline([...uninstall, '--yes']);
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('released 1 Medal')]);

    const gone = { namespace: home, name: 'bowline' };
    for (const kind of [Deployment, ServiceAccount, ConfigMap]) expect(await c.admin.find(kind, gone)).toBeUndefined();
    for (const kind of [Role, Lease]) {
      expect(await c.admin.find(kind, { ...gone, name: 'bowline-medal' })).toBeUndefined();
    }
    expect(await c.admin.find(Secret, { ...gone, name: 'medal-webhook-tls' })).toBeUndefined();
    for (const kind of [ClusterRole, ValidatingWebhookConfiguration]) {
      expect(await c.admin.find(kind, { name: `bowline-medal-${home}` })).toBeUndefined();
      // The other install has its own.
      expect(await c.admin.find(kind, { name: `bowline-medal-${other.home}` })).toBeDefined();
    }
    await c.admin.get(Namespace, { name: home });
    await c.admin.get(ConfigMap, bystander);
    await c.admin.get(CustomResourceDefinition, crd);
    expect((await c.admin.get(ConfigMap, medal)).data).toEqual({ text: 'gold' });
    expect((await c.admin.get(Medal, medal)).metadata?.finalizers ?? []).toEqual([]);
    // Other operators may have objects of other tests.
    const third = await bowline([...uninstall, '--operators', 'medal,sticker', '--yes']);
    expect([third.code, third.err]).toEqual([
      0,
      expect.stringContaining(`nothing of medal, sticker is installed in namespace ${home}`),
    ]);
    expect(third.err).toContain(`medal runs in namespace ${other.home}`);
    await c.admin.delete(Medal, medal);
  });

  it('removes what a run without an install created, and no other object of the same name', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const lease = { namespace: c.namespace, name: 'bowline-sticker' };
    const [own, foreign] = ['sticker', 'badge'].map((name) => ({
      namespace: c.namespace,
      name: `${name}-webhook-tls`,
    }));
    await c.admin.create(Lease, { metadata: lease });
    await c.admin.create(Secret, { metadata: { ...own, labels: { 'webhook.bowline.dev/operator': 'sticker' } } });
    await c.admin.create(Secret, { metadata: { ...foreign } });
    const { code, err } = await bowline(['uninstall', '--namespace', c.namespace, '--kubeconfig', kubeconfig, '--yes']);
    expect([code, err]).toEqual([0, expect.stringContaining('removed Lease')]);
    expect(await c.admin.find(Lease, lease)).toBeUndefined();
    expect(await c.admin.find(Secret, { ...own, name: 'sticker-webhook-tls' })).toBeUndefined();
    await c.admin.get(Secret, { ...foreign, name: 'badge-webhook-tls' });
  });

  it('releases objects and CRDs that remain after an install was deleted with kubectl', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const kubectl = await kubectlOf(c);
    const { home, start } = await install(c, files, ['--operators', 'medal']);
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig, '--operators', 'medal', '--yes'];
    const medal = { namespace: c.namespace, name: 'a' };
    {
      await using manager = await start();
      await manager.logged(/serving webhooks/);
      await retryUntilAdmitted(() =>
        c.admin.create(Medal, Medal.withDefaults({ metadata: medal, spec: { text: 'gold' } })),
      );
      await c.until(ConfigMap, medal, ({ data }) => data?.text === 'gold');
      await manager.stop();
    }
    const { out } = await bowline(['manifests', '--operators', 'medal', '--image', 'any', '--namespace', home]);
    // The namespace is deleted first, together with objects that come later in the list.
    await kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], out);
    await c.untilGone(Namespace, { name: home });
    expect((await c.admin.get(CustomResourceDefinition, crd)).metadata?.deletionTimestamp).toBeDefined();

    // Another process runs the operator, and manages the objects.
    const elsewhere = await c.createNamespace('elsewhere');
    const lease = { namespace: elsewhere, name: 'bowline-medal' };
    await c.admin.create(Lease, { metadata: lease, spec: { holderIdentity: 'somebody' } });
    const left = await bowline(uninstall);
    expect([left.code, left.err]).toEqual([0, expect.stringContaining(`medal runs in namespace ${elsewhere}`)]);
    expect((await c.admin.get(Medal, medal)).metadata?.finalizers).toContain(finalizer);

    await c.admin.patch(Lease, lease, { type: 'merge', body: { spec: { holderIdentity: '' } } });
    const { code, err, out: plan } = await bowline(uninstall);
    expect(plan).toMatch(/^No process runs medal, but/);
    expect(plan).toMatch(/1\. finalizers +of 1 Medal/);
    expect(plan).toContain('Note: 1 Medal are being deleted');
    expect([code, err]).toEqual([0, expect.stringContaining('released 1 Medal')]);
    await c.untilGone(CustomResourceDefinition, crd);
    expect((await c.admin.get(ConfigMap, medal)).data).toEqual({ text: 'gold' });
  });

  it('applies the deletion policies with --delete-resources, and removes the CRDs', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const { home, start } = await install(c, files, ['--operators', 'medal']);
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig, '--delete-resources', '--yes'];
    const medal = { namespace: c.namespace, name: 'a' };
    await using manager = await start();
    await c.until(ValidatingWebhookConfiguration, { name: `bowline-medal-${home}` }, ({ webhooks }) =>
      Boolean(webhooks?.[0]?.clientConfig.caBundle),
    );
    await manager.logged(/serving webhooks/);
    await retryUntilAdmitted(() =>
      c.admin.create(Medal, Medal.withDefaults({ metadata: medal, spec: { text: 'gold' } })),
    );
    await c.until(ConfigMap, medal, ({ data }) => data?.text === 'gold');

    const workload = { namespace: home, name: 'bowline' };
    await c.until(Deployment, workload, ({ status }) => (status?.readyReplicas ?? 0) > 0);
    await c.admin.patch(Deployment, workload, { type: 'merge', body: { spec: { replicas: 0 } } });
    await c.until(Deployment, workload, ({ status }) => (status?.readyReplicas ?? 0) === 0);
    const refused = await bowline(uninstall);
    expect(refused.err).toMatch(/the Deployment .*bowline has no ready pod; repair it.*UNINSTALL_NOT_RUNNING/);
    expect(refused.code).toBe(1);
    await c.admin.get(Medal, medal);

    await c.admin.patch(Deployment, workload, { type: 'merge', body: { spec: { replicas: 1 } } });
    await c.until(Deployment, workload, ({ status }) => (status?.readyReplicas ?? 0) > 0);
    const { code, err, out } = await bowline(uninstall);
    expect(out).toMatch(/1\. objects +1 Medal, according to their deletion policies/);
    expect([code, err]).toEqual([0, expect.stringContaining(`removed CustomResourceDefinition ${crd.name}`)]);
    expect(await c.admin.find(ConfigMap, medal)).toBeUndefined();
    await c.untilGone(CustomResourceDefinition, crd);
    await manager.stop('SIGKILL');
  });
});

describe('bowline uninstall, of an operator with companions and workloads', () => {
  const ours = { 'app.kubernetes.io/managed-by': 'bowline-scans' };
  const workload = (name: string, namespace: string, labels: Readonly<Record<string, string>> = ours) => {
    const selector = { app: name };
    const template = { metadata: { labels: selector }, spec: { containers: [{ name: 'agent', image: 'agent' }] } };
    return { metadata: { namespace, name, labels }, spec: { selector: { matchLabels: selector }, template } };
  };
  const namesOf = (out: string, name: string): readonly string[] => {
    const { steps } = JSON.parse(out) as { steps: { name: string; remove: { kind: string; name: string }[] }[] };
    const step = steps.find((each) => each.name === name);
    return (step?.remove ?? []).map((each) => `${each.kind} ${each.name}`);
  };

  it('removes exactly the workloads and companions that the plan lists, between the manager and its configuration', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const { home } = await install(c, files, ['--operators', 'scans']);
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig];
    await c.admin.create(DaemonSet, workload('discovery', c.namespace));
    await c.admin.create(Deployment, workload('agent', c.namespace));
    await c.admin.create(Deployment, workload('bystander', c.namespace, { app: 'bystander' }));
    await c.until(Deployment, { name: 'agent' }, ({ status }) => (status?.readyReplicas ?? 0) > 0);

    const { out } = await bowline([...uninstall, '--dry-run', '-o', 'json']);
    expect(namesOf(out, 'created-workloads')).toEqual(['DaemonSet discovery', 'Deployment agent']);
    const prefix = `bowline-scans-${home}`;
    expect(namesOf(out, 'companions')).toEqual([
      `ClusterRole ${prefix}-scanner`,
      `ValidatingAdmissionPolicyBinding ${prefix}-reports`,
      `ValidatingAdmissionPolicy ${prefix}-reports`,
      `NetworkPolicy ${prefix}-agents`,
    ]);
    expect(namesOf(out, 'rights')).toContain(`ClusterRole ${prefix}`);
    expect(namesOf(out, 'rights')).not.toContain(`ClusterRole ${prefix}-scanner`);

    const { code, err, out: table } = await bowline([...uninstall, '--yes']);
    expect(code).toBe(0);
    const listed = [...table.matchAll(/^ {2}(?:\d\. [-\w]+)? +(\S+ \S+)$/gm)].map(([, name]) => name);
    const removed = [...err.matchAll(/^removed (.+)$/gm)].map(([, name]) => name);
    expect(removed).toEqual(listed);
    expect(removed.filter((name) => name?.startsWith('Deployment'))).toEqual([
      `Deployment ${home}/bowline`,
      `Deployment ${c.namespace}/agent`,
    ]);
    expect(table).toContain('and all other objects that the operators wrote.');
    const { items: pods } = await c.admin.list(Pod, { namespace: c.namespace });
    expect(pods.map(({ metadata }) => metadata?.labels?.app)).toEqual(['bystander']);
    expect(await c.admin.find(ClusterRole, { name: `${prefix}-scanner` })).toBeUndefined();
    expect(await c.admin.find(NetworkPolicy, { namespace: home, name: `${prefix}-agents` })).toBeUndefined();
  });

  it('removes no workloads that appear after the plan, or in namespaces that the install is not limited to', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const elsewhere = await c.createNamespace('elsewhere');
    const { home } = await install(c, files, ['--operators', 'scans', '--namespaces', c.namespace]);
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig];
    await c.admin.create(DaemonSet, workload('discovery', c.namespace));
    await c.admin.create(DaemonSet, workload('other', elsewhere));

    const changed = await bowline(uninstall, {
      ask: async () => {
        await c.admin.create(Deployment, workload('late', c.namespace));
        return 'y';
      },
    });
    expect([changed.code, changed.err]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`Deployment ${c.namespace}/late appeared after the plan was made.*UNINSTALL_CHANGED`),
      ),
    ]);
    expect(await c.admin.find(DaemonSet, { namespace: c.namespace, name: 'discovery' })).toBeUndefined();
    await c.admin.get(ClusterRole, { name: `bowline-scans-${home}-scanner` });

    const { out } = await bowline([...uninstall, '--dry-run', '-o', 'json']);
    expect(namesOf(out, 'created-workloads')).toEqual(['Deployment late']);
    expect((await bowline([...uninstall, '--yes'])).code).toBe(0);
    expect(await c.admin.find(ClusterRole, { name: `bowline-scans-${home}-scanner` })).toBeUndefined();
    await c.admin.get(DaemonSet, { namespace: elsewhere, name: 'other' });
  });

  it('removes workloads that remain after an install was deleted by other means', async () => {
    await using files = await temporaryFiles();
    await using c = await cluster();
    const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
    await c.admin.create(DaemonSet, workload('discovery', c.namespace));
    const left = ['uninstall', '--namespace', c.namespace, '--kubeconfig', kubeconfig, '--operators', 'scans', '--yes'];
    const { code, err } = await bowline(left);
    expect([code, err]).toEqual([0, expect.stringContaining(`removed DaemonSet ${c.namespace}/discovery`)]);
    expect((await bowline(left)).err).toContain('nothing of scans is installed');
  });
});
