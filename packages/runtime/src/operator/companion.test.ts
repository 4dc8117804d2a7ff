import {
  ClusterRole,
  ConfigMap,
  DaemonSet,
  ServiceAccount,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller, keyed } from '../controller/builder.ts';
import { allow } from '../permissions/permission.ts';
import { type CompanionContext, companion } from './companion.ts';
import { companionManifests } from './companion-manifests.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator } from './operator.ts';
import { rbacManifests } from './rbac-manifests.ts';
import { withConfig } from './with-config.ts';
import { withinNamespaces } from './within-namespaces.ts';

interface Config {
  readonly guarded: boolean;
}

const scanner = companion(ClusterRole, 'scanner').content(() => ({
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] }],
}));
const agent = companion(ServiceAccount, 'agent').content(({ serviceAccount }) => ({
  metadata: { annotations: { 'example.com/manager': serviceAccount } },
  automountServiceAccountToken: false,
}));
const reports = companion(ValidatingAdmissionPolicy, 'reports').content(({ config }: CompanionContext<Config>) =>
  config.guarded ? { spec: { validations: [{ expression: 'true' }] } } : undefined,
);
const binding = companion(ValidatingAdmissionPolicyBinding, 'reports').content(({ nameOf }) => ({
  spec: {
    policyName: nameOf(reports),
    validationActions: ['Deny'],
    matchResources: { namespaceSelector: { matchLabels: { tier: 'one' } } },
  },
}));

const work = controller(ConfigMap, { name: 'work' })
  .watches(ValidatingAdmissionPolicy, { fieldSelector: reports.fieldSelector, map: () => [] })
  .reconcile(() => {});

const scans = defineOperator({
  name: 'scans',
  domain: 'example.com',
  config: s.object({ guarded: s.boolean().default(true) }),
  setup: () => undefined,
  controllers: [work],
  companions: [scanner, agent, reports, binding],
  permissions: [allow(['bind'], ClusterRole, { names: [scanner.name] })],
});

describe('companions', () => {
  it('have the name and the labels of the install, and the namespace of the manager if they are namespaced', async () => {
    const manifests = companionManifests(await withConfig(scans, undefined), { namespace: 'scans-system' });
    expect(manifests.map(({ object }) => [object.apiVersion, object.kind, object.metadata?.name])).toEqual([
      ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'example-scans-scanner'],
      ['v1', 'ServiceAccount', 'example-scans-agent'],
      ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'example-scans-reports'],
      ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', 'example-scans-reports'],
    ]);
    expect(manifests[0]?.object.metadata).toEqual({
      name: 'example-scans-scanner',
      labels: {
        'app.kubernetes.io/name': 'scans',
        'app.kubernetes.io/part-of': 'example',
        'example.com/installed-in': 'scans-system',
        'example.com/companion': 'scanner',
      },
    });
    expect(manifests[1]?.object.metadata).toMatchObject({
      namespace: 'scans-system',
      annotations: { 'example.com/manager': 'example-scans' },
    });
  });

  it('refer to each other by the names of another install', async () => {
    const options = { namespace: 'other', name: 'scans-other', serviceAccount: 'manager' };
    const [role, account, policy, bound] = companionManifests(await withConfig(scans, {}), options);
    expect([role, policy].map((each) => each?.object.metadata?.name)).toEqual([
      'scans-other-scanner',
      'scans-other-reports',
    ]);
    expect(account?.object.metadata?.annotations).toEqual({ 'example.com/manager': 'manager' });
    expect(bound?.object).toMatchObject({ spec: { policyName: 'scans-other-reports' } });
  });

  it('depend on the configuration, which is never assumed', async () => {
    const place = { namespace: 'scans-system' };
    const unguarded = companionManifests(await withConfig(scans, { guarded: false }), place);
    expect(unguarded.map(({ object }) => object.kind)).not.toContain('ValidatingAdmissionPolicy');
    expect(() => companionManifests(scans, place)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_OPERATOR_UNCONFIGURED' }),
    );
    const plain = defineOperator({ name: 'plain', domain: 'example.com', controllers: [work], companions: [scanner] });
    expect(companionManifests(plain, place)).toHaveLength(1);
  });

  it('know the namespaces of a limited install, to which policy bindings are limited', async () => {
    const seen: unknown[] = [];
    const aware = companion(ClusterRole, 'aware').content(({ namespaces }) => {
      seen.push(namespaces);
      return undefined;
    });
    const operator = defineOperator({
      name: 'scans',
      domain: 'example.com',
      controllers: [work],
      companions: [aware, binding],
    });
    const [limited] = companionManifests(operator, { namespace: 'x', namespaces: ['b', 'a'] });
    expect(seen).toEqual([['b', 'a']]);
    expect(limited?.object).toMatchObject({
      spec: {
        matchResources: {
          namespaceSelector: {
            matchLabels: { tier: 'one' },
            matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] }],
          },
        },
      },
    });
  });

  it('are read and bound by name, and never written, with the rights of the manager', async () => {
    for (const operator of [scans, withinNamespaces(scans, ['a'])]) {
      const { cluster } = permissionsOf(await withConfig(operator, {}), { installName: 'scans-other' });
      expect(cluster.filter(({ resources }) => /policies|clusterroles/.test(`${resources}`))).toEqual([
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingadmissionpolicies'],
          resourceNames: ['scans-other-reports'],
          verbs: ['get', 'list', 'watch'],
        },
        {
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['scans-other-scanner'],
          verbs: ['bind'],
        },
      ]);
    }
    const manifests = rbacManifests(await withConfig(scans, {}), { namespace: 'x', name: 'scans-other' });
    expect(JSON.stringify(manifests)).not.toContain('(own)');
  });

  it('have the type of the configuration', () => {
    const typed = companion(ClusterRole, 'typed').content(({ config }: CompanionContext<Config>) => {
      expectTypeOf(config).toEqualTypeOf<Config>();
      return undefined;
    });
    const others = { name: 'x', domain: 'example.com', controllers: [work], setup: () => undefined };
    // @ts-expect-error The companion needs a setting that the configuration does not have.
    defineOperator({ ...others, config: s.object({ other: s.string() }), companions: [typed] });
    // @ts-expect-error A ClusterRole has no such field.
    companion(ClusterRole, 'wrong').content(() => ({ rulez: [] }));
  });
});

describe('defineOperator', () => {
  const keyedWork = keyed('work')
    .watches(ConfigMap, { map: () => [] })
    .reconcile(() => {});
  const define = (given: Pick<Parameters<typeof defineOperator>[0], 'companions' | 'createdWorkloads'>) => () =>
    defineOperator({ name: 'x', domain: 'example.com', controllers: [keyedWork], ...given });

  it.each([
    [
      'two companions of one name',
      define({ companions: [scanner, scanner] }),
      'the companion ClusterRole scanner is declared twice',
    ],
    [
      'a companion whose name is no DNS label',
      define({ companions: [companion(ClusterRole, 'a b').content(() => ({}))] }),
      'the companion name "a b" must be a DNS label',
    ],
    [
      'workloads without a required label',
      define({ createdWorkloads: [{ resource: DaemonSet, labelSelector: 'a!=b' }] }),
      'the label selector "a!=b" of its DaemonSet objects also selects objects without labels',
    ],
    [
      'all workloads of a kind',
      define({ createdWorkloads: [{ resource: DaemonSet, labelSelector: '' }] }),
      'require a label that only this operator sets',
    ],
  ])('refuses %s', (_, defining, message) => {
    expect(defining).toThrow(message);
  });
});
