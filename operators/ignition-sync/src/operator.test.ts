import type { PolicyRule } from '@bowline/kubernetes';
import { permissionsOf, withConfig } from '@bowline/runtime/install';
import { expect, it } from 'vitest';
import { agentBinding, agentRules } from './agent-access/agent-role.ts';
import { ignitionSync } from './operator.ts';

const describeRule = ({ apiGroups = [], resources = [], verbs, resourceNames }: PolicyRule): string =>
  [`${apiGroups.join()}/${resources.join()}`, verbs.join(' '), ...(resourceNames ?? [])].join(': ');

const COMMON = [
  '/configmaps: get list watch create patch delete',
  '/namespaces: get list watch',
  '/persistentvolumeclaims: get list watch create patch',
  '/pods: get list watch',
  '/secrets: get',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations: get list watch patch: bowline-ignition-sync',
  'admissionregistration.k8s.io/validatingwebhookconfigurations: get list watch patch: bowline-ignition-sync',
  'authorization.k8s.io/subjectaccessreviews: create',
  'events.k8s.io/events: create patch',
  'rbac.authorization.k8s.io/rolebindings: get list watch create patch',
  'rbac.authorization.k8s.io/roles: get list watch create patch',
  'sync.ignition.io/ignitionsyncs: get list watch patch',
  'sync.ignition.io/ignitionsyncs/finalizers: update',
  'sync.ignition.io/ignitionsyncs/status: patch',
  'sync.ignition.io/syncprofiles: get list watch',
  'sync.ignition.io/syncprofiles/status: patch',
];

it('has exactly the permissions that it needs, without list and watch on Secrets', async () => {
  const { cluster } = permissionsOf(await withConfig(ignitionSync, {}));
  expect(cluster.map(describeRule)).toEqual(COMMON);
});

it('may write Secrets only if GitHub Apps are allowed', async () => {
  const { cluster } = permissionsOf(await withConfig(ignitionSync, { githubApps: true }));
  const expected = COMMON.map((rule) => (rule === '/secrets: get' ? '/secrets: get create patch' : rule));
  expect(cluster.map(describeRule)).toEqual(expected);
});

it('grants agents their own ConfigMaps by name, and events', () => {
  expect(agentRules('plant').map(describeRule)).toEqual([
    '/configmaps: get list watch: ignition-sync-metadata-plant',
    '/configmaps: get patch: ignition-sync-status-plant: ignition-sync-changes-plant',
    'events.k8s.io/events: create patch',
  ]);
});

it('grants agents nothing that the operator may not do itself, which the API server would refuse', async () => {
  const { cluster } = permissionsOf(await withConfig(ignitionSync, {}));
  for (const { apiGroups, resources, verbs } of agentRules('plant')) {
    const held = cluster.filter(
      (rule) => rule.apiGroups?.join() === apiGroups?.join() && rule.resources?.join() === resources?.join(),
    );
    expect(held.flatMap((rule) => rule.verbs)).toEqual(expect.arrayContaining([...verbs]));
  }
});

it('binds the accounts of pods, and no subject if there are none', () => {
  expect(agentBinding('plant', 'ns', ['a', 'b']).subjects).toEqual([
    { kind: 'ServiceAccount', name: 'a', namespace: 'ns' },
    { kind: 'ServiceAccount', name: 'b', namespace: 'ns' },
  ]);
  expect(agentBinding('plant', 'ns', [])).not.toHaveProperty('subjects');
});
