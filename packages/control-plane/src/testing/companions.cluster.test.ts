import {
  ClusterRole,
  ConfigMap,
  Pod,
  RoleBinding,
  ServiceAccount,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { allow, companion, controller, defineOperator } from '@bowline/runtime';
import { expect, it, vi } from 'vitest';
import { cluster } from './cluster.ts';

const scanner = companion(ClusterRole, 'scanner').content(() => ({
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }],
}));
const reports = companion(ValidatingAdmissionPolicy, 'reports').content(() => ({
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      objectSelector: { matchLabels: { scan: 'report' } },
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
    },
    validations: [
      {
        expression: "has(request.userInfo.extra) && 'authentication.kubernetes.io/pod-name' in request.userInfo.extra",
        message: 'only a Pod may report',
        reason: 'Forbidden',
      },
    ],
  },
}));
const enforced = companion(ValidatingAdmissionPolicyBinding, 'reports').content(({ nameOf }) => ({
  spec: { policyName: nameOf(reports), validationActions: ['Deny'] },
}));

/** Lets the accounts that a ConfigMap names report, and records whether reports are guarded. */
const accounts = controller(ConfigMap, { name: 'accounts', labelSelector: 'scan=accounts' })
  .using<{ readonly role: string }>()
  .watches(ValidatingAdmissionPolicy, { fieldSelector: reports.fieldSelector, map: () => [] })
  .owns(RoleBinding)
  .reconcile(async ({ object, key, apply, list, deps }) => {
    const guards = list(ValidatingAdmissionPolicy).map(({ metadata }) => metadata.name);
    await apply(RoleBinding, {
      metadata: { ...key, annotations: { guards: guards.join() } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: deps.role },
      subjects: [{ kind: 'ServiceAccount', namespace: key.namespace, name: object.data?.account ?? '' }],
    });
  });

const scans = defineOperator({
  name: 'scans',
  domain: 'example.com',
  setup: ({ nameOf }) => ({ role: nameOf(scanner) }),
  controllers: [accounts],
  companions: [scanner, reports, enforced],
  permissions: [allow(['bind'], ClusterRole, { names: [scanner.name] })],
});

const report = (namespace: string, name: string) => ({ metadata: { namespace, name, labels: { scan: 'report' } } });

it('enforces admission policies of an operator in the namespaces of its test alone, from the start', async () => {
  await using bystander = await cluster();
  await using c = await cluster({ operators: [scans] });
  await expect(c.admin.create(ConfigMap, report(c.namespace, 'a'))).rejects.toThrow('only a Pod may report');
  await expect(c.admin.create(ConfigMap, report(await c.createNamespace(), 'a'))).rejects.toThrow('only a Pod');
  await bystander.admin.create(ConfigMap, report(bystander.namespace, 'a'));
});

it('lets an operator bind a role and read a policy of its install, by names of the test', async () => {
  await using c = await cluster({ operators: [scans] });
  const { namespace } = c;
  const account = { namespace, name: 'agent' };
  await c.admin.create(ServiceAccount, { metadata: account });
  await c.admin.create(ConfigMap, {
    metadata: { namespace, name: 'agents', labels: { scan: 'accounts' } },
    data: { account: account.name },
  });
  const { roleRef, metadata } = await c.until(RoleBinding, { name: 'agents' }, () => true);
  expect(roleRef.name).toMatch(/^scans-[0-9a-f]{10}-scanner$/);
  expect(metadata?.annotations?.guards).toBe(roleRef.name.replace('scanner', 'reports'));

  const spec = { serviceAccountName: account.name, containers: [{ name: 'agent', image: 'agent' }] };
  await c.admin.create(Pod, { metadata: { namespace, name: 'agent' }, spec });
  const pod = await c.clientFor({ serviceAccount: account, pod: 'agent' });
  // The API server observes the binding shortly after it was created.
  await vi.waitFor(() => pod.create(ConfigMap, report(namespace, 'from-pod')), { timeout: 20_000, interval: 20 });
  const outside = await c.clientFor({ serviceAccount: account });
  await expect(outside.create(ConfigMap, report(namespace, 'b'))).rejects.toThrow('only a Pod may report');
});

it('removes companions with the cluster, and gives no account the right to write them', async () => {
  const names: string[] = [];
  const kinds = [ClusterRole, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding];
  await using observer = await cluster();
  {
    await using c = await cluster({
      operators: [scans],
      modifyRbac: (manifests) => {
        const rules = manifests.flatMap((each) => ('rules' in each ? (each.rules ?? []) : []));
        const ofCompanions = rules.filter(({ resources = [] }) =>
          kinds.some(({ plural }) => resources.includes(plural)),
        );
        expect(new Set(ofCompanions.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list', 'watch', 'bind']));
        names.push(manifests.find(({ kind }) => kind === 'ClusterRole')?.metadata?.name ?? '');
        return manifests;
      },
    });
    expect(await c.admin.find(ClusterRole, { name: `${names[0]}-scanner` })).toBeDefined();
  }
  for (const kind of kinds) {
    const { items } = await observer.admin.list(kind);
    expect(items.filter(({ metadata }) => metadata?.name?.startsWith(names[0] ?? ''))).toEqual([]);
  }
});

it('limits companions to the namespaces that the operators are limited to', async () => {
  await using c = await cluster({
    operators: [scans],
    selectNamespaces: (cluster) => Promise.resolve([cluster.namespace]),
  });
  await expect(c.admin.create(ConfigMap, report(c.namespace, 'a'))).rejects.toThrow('only a Pod may report');
  await c.admin.create(ConfigMap, report(await c.createNamespace(), 'a'));
});
