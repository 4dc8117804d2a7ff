import { ConfigMap, Lease, Namespace, Node, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { controller, keyed } from '../controller/builder.ts';
import type { Controller } from '../controller/controller.ts';
import { allow, OWN_NAMESPACE, type Permission } from '../permissions/permission.ts';
import { rulesOf } from '../permissions/rules.ts';
import { defineResource } from '../resource/define-resource.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator } from './operator.ts';
import { rbacManifests } from './rbac-manifests.ts';

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({}),
  status: s.object({}),
});

const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

describe('permissions of an operator', () => {
  it('follow from the declarations of its controllers', () => {
    const site = controller(Site)
      .owns(Secret)
      .applies(Secret)
      .ensures(ConfigMap, { remove: true })
      .reconcile(() => {})
      .cleanup(() => {});
    expect(permissionsOf(defineOperator({ name: 'site', domain: 'bowline.dev', controllers: [site] })).cluster).toEqual(
      [
        rule('', 'configmaps', 'get', 'create', 'patch', 'delete'),
        rule('', 'secrets', 'get', 'list', 'watch', 'create', 'patch'),
        rule('events.k8s.io', 'events', 'create', 'patch'),
        rule('example.dev', 'sites', 'get', 'list', 'watch', 'patch'),
        rule('example.dev', 'sites/finalizers', 'update'),
        rule('example.dev', 'sites/status', 'patch'),
      ],
    );
  });

  it('follow from owning a kind, and are limited to reading with apply: false', () => {
    const rulesOfSecrets = (declared: Controller<unknown>) =>
      permissionsOf(defineOperator({ name: 'site', domain: 'bowline.dev', controllers: [declared] })).cluster.filter(
        ({ resources }) => resources?.includes('secrets'),
      );
    const owning = controller(Site);
    expect(rulesOfSecrets(owning.owns(Secret).reconcile(() => {}))).toEqual([
      rule('', 'secrets', 'get', 'list', 'watch', 'create', 'patch'),
    ]);
    expect(rulesOfSecrets(owning.owns(Secret, { remove: true }).reconcile(() => {}))).toEqual([
      rule('', 'secrets', 'get', 'list', 'watch', 'create', 'patch', 'delete'),
    ]);
    expect(rulesOfSecrets(owning.owns(Secret, { apply: false }).reconcile(() => {}))).toEqual([
      rule('', 'secrets', 'get', 'list', 'watch'),
    ]);
  });

  it('are limited to the declared namespaces', () => {
    const here = controller(Site, { namespaces: ['a', 'b'] }).reconcile(() => {});
    const rules = permissionsOf(defineOperator({ name: 'site', domain: 'bowline.dev', controllers: [here] }));
    const each = [
      rule('events.k8s.io', 'events', 'create', 'patch'),
      rule('example.dev', 'sites', 'get', 'list', 'watch'),
      rule('example.dev', 'sites/status', 'patch'),
    ];
    expect(rules).toMatchObject({ cluster: [], namespaces: { a: each, b: each } });
  });

  it('are limited to the name that a declaration selects', () => {
    const one = controller(ConfigMap, { fieldSelector: 'metadata.name=settings', namespaces: ['a'] })
      .watches(Secret, { fieldSelector: 'metadata.name!=settings,type=Opaque', map: () => [] })
      .reconcile(() => {});
    const { cluster, namespaces } = permissionsOf(
      defineOperator({ name: 'one', domain: 'bowline.dev', controllers: [one] }),
    );
    expect(cluster).toEqual([rule('', 'secrets', 'get', 'list', 'watch')]);
    expect(namespaces.a).toContainEqual({
      ...rule('', 'configmaps', 'get', 'list', 'watch'),
      resourceNames: ['settings'],
    });
  });

  it('are limited to the names that a write declares, except creations that have no name in their request', () => {
    const named = controller(Site)
      .owns(ConfigMap, { names: ['a', 'b'], namespaces: ['x'] })
      .applies(Secret, { names: ['c'], remove: true })
      .ensures(Namespace, { names: ['d'], remove: true })
      .reconcile(() => {});
    const { cluster, namespaces } = permissionsOf(
      defineOperator({ name: 'named', domain: 'bowline.dev', controllers: [named] }),
    );
    expect(cluster.filter(({ resources }) => /secrets|namespaces/.test(`${resources}`))).toEqual([
      rule('', 'namespaces', 'create'),
      { ...rule('', 'namespaces', 'get', 'patch', 'delete'), resourceNames: ['d'] },
      { ...rule('', 'secrets', 'get', 'create', 'patch', 'delete'), resourceNames: ['c'] },
    ]);
    expect(namespaces.x).toEqual([
      rule('', 'configmaps', 'get', 'list', 'watch'),
      { ...rule('', 'configmaps', 'create', 'patch'), resourceNames: ['a', 'b'] },
    ]);
  });

  it('are limited to the only object of the primary kind, if its source selects one by name', () => {
    const singleton = controller(Site, { fieldSelector: 'metadata.name=cluster' })
      .owns(Secret)
      .reconcile(() => {})
      .cleanup(() => {});
    const { cluster } = permissionsOf(
      defineOperator({ name: 'singleton', domain: 'bowline.dev', controllers: [singleton] }),
    );
    const resourceNames = ['cluster'];
    expect(cluster.filter(({ apiGroups }) => apiGroups?.includes('example.dev'))).toEqual([
      { ...rule('example.dev', 'sites', 'get', 'list', 'watch', 'patch'), resourceNames },
      { ...rule('example.dev', 'sites/finalizers', 'update'), resourceNames },
      { ...rule('example.dev', 'sites/status', 'patch'), resourceNames },
    ]);
  });

  it('grant events of cluster-scoped objects in the default namespace, and events of keyed controllers only for reported kinds', () => {
    const nodes = controller(Node).reconcile(() => {});
    const { cluster, namespaces } = permissionsOf(
      defineOperator({ name: 'nodes', domain: 'bowline.dev', controllers: [nodes] }),
    );
    expect(cluster).toEqual([rule('', 'nodes', 'get', 'list', 'watch')]);
    expect(namespaces).toEqual({ default: [rule('events.k8s.io', 'events', 'create', 'patch')] });
    const work = keyed('work').watches(Namespace, { view: 'metadata', map: () => ['x'] });
    const silent = defineOperator({
      name: 'work',
      domain: 'bowline.dev',

      controllers: [work.reconcile(() => {})],
    });
    expect(permissionsOf(silent).cluster).toEqual([rule('', 'namespaces', 'get', 'list', 'watch')]);
    const reporting = work.reports(Namespace).reports(ConfigMap, { namespaces: ['a'] });
    const rules = permissionsOf(
      defineOperator({
        name: 'work',
        domain: 'bowline.dev',

        controllers: [reporting.reconcile(() => {})],
      }),
    );
    expect(rules.cluster).toEqual([rule('', 'namespaces', 'get', 'list', 'watch')]);
    const events = [rule('events.k8s.io', 'events', 'create', 'patch')];
    expect(rules.namespaces).toEqual({ a: events, default: events });
  });

  it('do not depend on the order of declarations, and have no duplicates', () => {
    const all: readonly Permission[] = [
      allow(['watch', 'get'], Secret, { names: ['b', 'a'] }),
      allow(['patch', 'get'], Secret, { names: ['a', 'b'] }),
      allow(['get'], Secret, { namespaces: ['x'] }),
      allow(['get', 'use'], Secret),
      allow(['list'], Secret, { namespaces: ['x', OWN_NAMESPACE] }),
    ];
    const rules = rulesOf(all);
    expect(rules).toEqual({
      cluster: [
        rule('', 'secrets', 'get', 'use'),
        { ...rule('', 'secrets', 'watch', 'patch'), resourceNames: ['a', 'b'] },
      ],
      own: [rule('', 'secrets', 'list')],
      namespaces: { x: [rule('', 'secrets', 'list')] },
    });
    expect(rulesOf(all.toReversed())).toEqual(rules);
  });

  it('grant each verb for each name once', () => {
    const named = (verbs: readonly string[], ...names: string[]) => allow(verbs, Secret, { names });
    const inX = allow(['get', 'patch'], Secret, { names: ['a', 'c'], namespaces: ['x'] });
    const { cluster, namespaces } = rulesOf([named(['get'], 'a'), named(['get', 'update'], 'a', 'b'), inX]);
    expect(cluster).toEqual([{ ...rule('', 'secrets', 'get', 'update'), resourceNames: ['a', 'b'] }]);
    expect(namespaces).toEqual({
      x: [
        { ...rule('', 'secrets', 'patch'), resourceNames: ['a', 'c'] },
        { ...rule('', 'secrets', 'get'), resourceNames: ['c'] },
      ],
    });
  });
});

it('renders the objects of an identity', () => {
  const operator = defineOperator({
    name: 'site',
    domain: 'bowline.dev',

    controllers: [controller(Site, { namespaces: ['a'] }).reconcile(() => {})],
    permissions: [allow(['get'], Node)],
  });
  const manifests = rbacManifests(operator, { namespace: 'system', serviceAccount: 'me' });
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata?.namespace ?? ''}/${metadata?.name}`)).toEqual([
    'ServiceAccount system/me',
    'ClusterRole /bowline-site',
    'ClusterRoleBinding /bowline-site',
    'Role a/bowline-site',
    'RoleBinding a/bowline-site',
    'Role system/bowline-site',
    'RoleBinding system/bowline-site',
  ]);
  for (const manifest of manifests) {
    if ('subjects' in manifest) {
      expect(manifest.subjects).toEqual([{ kind: 'ServiceAccount', name: 'me', namespace: 'system' }]);
    }
  }
  expect(JSON.stringify(manifests)).not.toContain('*');
});

it('renders one Role for a declared namespace that is also the namespace of the manager', () => {
  const namespaces = [OWN_NAMESPACE, 'system'];
  const permissions = [allow(['create'], Lease, { namespaces: ['system'] }), allow(['get'], Secret, { namespaces })];
  const operator = defineOperator({
    name: 'site',
    domain: 'bowline.dev',

    controllers: [controller(Site).reconcile(() => {})],
    permissions,
  });
  const roles = rbacManifests(operator, { namespace: 'system' }).filter(({ kind }) => kind === 'Role');
  expect(roles).toMatchObject([
    {
      metadata: { namespace: 'system' },
      rules: [
        rule('', 'secrets', 'get'),
        rule('coordination.k8s.io', 'leases', 'create'),
        { ...rule('coordination.k8s.io', 'leases', 'get', 'update'), resourceNames: ['bowline-site'] },
      ],
    },
  ]);
});
