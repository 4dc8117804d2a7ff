import { ClusterRole, ConfigMap, Deployment, type KubernetesObject, type Resource, Service } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { possiblyAbandoned } from './abandoned-operators.ts';
import type { FoundObject, InstalledWorkload, InstallState } from './install-state.ts';
import { planUninstall, withObjects } from './plan-uninstall.ts';
import { describe as nameOf } from './run-uninstall.ts';

const found = (resource: Resource<KubernetesObject>, name: string, owner: string): FoundObject => ({
  resource,
  object: { metadata: { name, labels: { 'app.kubernetes.io/name': owner } } },
});
const workload = (name: string, operators: string[], more: Partial<InstalledWorkload> = {}): InstalledWorkload => ({
  name,
  namespace: 'home',
  operators,
  namespaces: undefined,
  ...more,
});
const shared: InstallState = {
  namespace: 'home',
  workloads: [workload('bowline', ['a', 'b'])],
  objects: [
    found(ConfigMap, 'bowline', 'bowline'),
    found(ClusterRole, 'bowline-a', 'a'),
    found(ClusterRole, 'bowline-b', 'b'),
    found(Service, 'a-webhook', 'a'),
    found(Deployment, 'bowline', 'bowline'),
  ],
  others: [],
};
const removed = (state: InstallState, chosen?: readonly string[]) =>
  planUninstall(state, chosen).steps.map(({ name, objects }) => [name, objects.map(nameOf)]);

describe('planUninstall', () => {
  it('removes everything of an install, workloads before rights, and the configuration last', () => {
    expect(removed(shared)).toEqual([
      ['workloads', ['Service a-webhook', 'Deployment bowline']],
      ['rights', ['ClusterRole bowline-a', 'ClusterRole bowline-b']],
      ['configuration', ['ConfigMap bowline']],
    ]);
  });

  it('removes companions after rights, also those of the same kind', () => {
    const role = found(ClusterRole, 'bowline-a-scanner', 'a');
    const labels = { ...role.object.metadata?.labels, 'bowline.dev/companion': 'scanner' };
    const companion = { ...role, object: { metadata: { ...role.object.metadata, labels } } };
    const agent = found(Deployment, 'agent', 'other');
    const plan = planUninstall({ ...shared, objects: [companion, ...shared.objects] }, undefined);
    const steps = withObjects(plan, [], [agent]).steps;
    expect(steps.map(({ name, objects }) => [name, objects.map(nameOf)])).toEqual([
      ['workloads', ['Service a-webhook', 'Deployment bowline']],
      ['created-workloads', ['Deployment agent']],
      ['rights', ['ClusterRole bowline-a', 'ClusterRole bowline-b']],
      ['companions', ['ClusterRole bowline-a-scanner']],
      ['configuration', ['ConfigMap bowline']],
    ]);
  });

  it('keeps shared objects for the remaining operators, once they run without the removed one', () => {
    expect(() => planUninstall(shared, ['a'])).toThrow(
      /the Deployment home\/bowline also runs b; apply .*--operators b/,
    );
    expect(removed({ ...shared, workloads: [workload('bowline', ['b'])] }, ['a'])).toEqual([
      ['workloads', ['Service a-webhook']],
      ['rights', ['ClusterRole bowline-a']],
    ]);
  });

  it('finds the remaining objects of an interrupted uninstall', () => {
    const left = { ...shared, objects: shared.objects.slice(0, 2) };
    expect(planUninstall(left, undefined).operators).toEqual(['a', 'b']);
    const nothing = { ...shared, workloads: [], objects: [] };
    expect(planUninstall(nothing, undefined)).toMatchObject({ operators: [], steps: [] });
    expect(planUninstall(shared, ['x']).steps).toEqual([]);
  });

  it('releases objects that have the finalizer of an operator that is not installed', () => {
    const nothing = { ...shared, workloads: [], objects: [] };
    const scopes = [{ operator: 'x', namespaces: undefined, others: [] }];
    expect(planUninstall(nothing, undefined, ['x'])).toMatchObject({ operators: ['x'], steps: [], scopes });
    // Objects that the installed operators share do not stay because of it.
    expect(planUninstall(shared, ['a', 'b', 'x'], ['x']).operators).toEqual(['a', 'b', 'x']);
    expect(removed(shared, ['a', 'b', 'x'])).toEqual(removed(shared));
  });

  it.each<[string, InstallState, readonly string[] | undefined, readonly string[]]>([
    [
      'all known operators if nothing is installed',
      { ...shared, workloads: [], objects: [] },
      undefined,
      ['a', 'b', 'c'],
    ],
    [
      'all known operators if only shared objects are left',
      { ...shared, workloads: [], objects: shared.objects.slice(0, 1) },
      undefined,
      ['a', 'b', 'c'],
    ],
    ['none if an install exists', shared, undefined, []],
    ['the chosen operators that are not installed', shared, ['b', 'c'], ['c']],
  ])('returns as possibly abandoned %s', (_, state, chosen, expected) => {
    expect(possiblyAbandoned(state, chosen, ['a', 'b', 'c'])).toEqual(expected);
  });

  it.each<[string, readonly InstalledWorkload[], readonly string[] | 'all']>([
    ['no other install', [], []],
    ['another cluster-wide install', [workload('bowline', ['a'], { namespace: 'x' })], 'all'],
    ['an install in some namespaces', [workload('bowline', ['a'], { namespace: 'x', namespaces: ['n'] })], ['n']],
    ['an install of another operator', [workload('bowline', ['b'], { namespace: 'x' })], []],
  ])('does not select the objects managed by %s', (_, others, expected) => {
    const limited = [workload('bowline', ['a'], { namespaces: ['m', 'n'] })];
    const { scopes } = planUninstall({ ...shared, workloads: limited, others }, ['a']);
    expect(scopes).toEqual([{ operator: 'a', namespaces: ['m', 'n'], others: expected }]);
  });
});
