import type { KubernetesObject, Namespace, Role } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { beacons } from '../testing/beacon.test-support.ts';
import { findObject } from '../testing/manifests.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

async function print(...args: readonly string[]): Promise<readonly KubernetesObject[]> {
  const { out, err } = await bowline([...args, '-o', 'json'], { registry: beacons });
  expect(err).toBe('');
  return (JSON.parse(out) as { items: KubernetesObject[] }).items;
}

const manifests = (...args: readonly string[]) => print('manifests', '--operators', 'beacon', '--image', 'x', ...args);
const LABELS = { 'pod-security.kubernetes.io/enforce': 'privileged' };
const DEFINITION = 'lighthouses.harbours.test.bowline.dev';
const namesOf = (objects: readonly KubernetesObject[], kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata?.name);

describe('bowline manifests', () => {
  it('prints the namespaces that settings name, with their labels and without those of the install', async () => {
    const objects = await manifests('--work-namespace', 'harbour', '--part', 'admin');
    expect(namesOf(objects, 'Namespace')).toEqual(['bowline-system', 'harbour']);
    expect(findObject<Namespace>(objects, 'Namespace', 'harbour').metadata).toEqual({
      name: 'harbour',
      labels: LABELS,
    });
  });

  it('limits the permissions to these namespaces and to declared names', async () => {
    const objects = await manifests();
    const roles = objects.filter(({ kind }) => kind === 'Role') as Role[];
    expect(roles.map(({ metadata }) => metadata?.namespace)).toEqual(['beacons', 'bowline-system', 'default']);
    expect(roles[0]?.rules).toContainEqual({
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['beacon'],
      verbs: ['create', 'patch'],
    });
  });

  it('prints a namespace once that is also that of the manager, with both sets of labels', async () => {
    const objects = await manifests('--work-namespace', 'harbour', '--namespace', 'harbour');
    expect(namesOf(objects, 'Namespace')).toEqual(['harbour']);
    const { metadata } = findObject<Namespace>(objects, 'Namespace', 'harbour');
    expect(metadata?.labels).toMatchObject({ ...LABELS, 'bowline.dev/installed-in': 'harbour' });
  });

  it('prints definitions of other projects only on request, before the operators, and without our labels', async () => {
    expect(namesOf(await manifests(), 'CustomResourceDefinition')).toEqual(['beacons.cli.test.bowline.dev']);
    const objects = await manifests('--dependencies');
    expect(namesOf(objects, 'CustomResourceDefinition')).toEqual([DEFINITION, 'beacons.cli.test.bowline.dev']);
    expect(findObject(objects, 'CustomResourceDefinition', DEFINITION).metadata).toEqual({ name: DEFINITION });
  });
});

describe('bowline crds', () => {
  it('prints the definitions of other projects alone with --dependencies, and not at all without', async () => {
    expect(namesOf(await print('crds'), 'CustomResourceDefinition')).toEqual(['beacons.cli.test.bowline.dev']);
    expect(namesOf(await print('crds', '--dependencies'), 'CustomResourceDefinition')).toEqual([DEFINITION]);
    expect(await bowline(['crds', '--operators', 'badge', '--dependencies'])).toEqual({
      code: 0,
      out: '',
      err: 'nothing to install: no dependencies in badge\n',
    });
  });
});
