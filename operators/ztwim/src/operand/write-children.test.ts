import {
  ConfigMap,
  type KubernetesObject,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
  StatefulSet,
} from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import type { Child } from '../objects/child.ts';
import { RolloutPace } from '../rollout/rollout-pace.ts';
import { type ChildWriter, writeChildren } from './write-children.ts';

const children = [Role, RoleBinding, ConfigMap, ServiceAccount, StatefulSet].map(
  (resource): Child => ({ resource, object: { metadata: { name: 'x' } }, condition: resource.kind }),
);
const options = {
  createOnly: false,
  rollouts: new RolloutPace(new VirtualClock()),
  rolledOut: () => {},
} as const;

/** A writer whose requests take several turns of the event loop, and which records when they start and end. */
function recordingWriter(failing?: string): { readonly writer: ChildWriter; readonly steps: string[] } {
  const steps: string[] = [];
  const write = async ({ kind }: Resource, object: KubernetesObject) => {
    steps.push(`+${kind}`);
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (kind === failing) throw new Error(`${kind} failed`);
    await new Promise<void>((resolve) => setImmediate(resolve));
    steps.push(`-${kind}`);
    return { outcome: 'created' as const, object };
  };
  const writer: ChildWriter = {
    apply: (resource, desired, { dryRun } = {}) =>
      dryRun ? Promise.resolve({ outcome: 'created', object: desired }) : write(resource, desired),
    createOnce: (resource, _key, make) => write(resource, make()),
    get: () => undefined,
    isServed: () => true,
    key: { name: 'cluster' },
    enqueue: () => {},
  };
  return { writer, steps };
}

it('writes objects at the same time, bindings after their roles, and the workload last', async () => {
  const { writer, steps } = recordingWriter();
  await writeChildren(writer, children, options);
  expect(steps).toEqual([
    ...['+Role', '+ConfigMap', '+ServiceAccount', '-Role', '-ConfigMap', '-ServiceAccount'],
    ...['+RoleBinding', '-RoleBinding'],
    ...['+StatefulSet', '-StatefulSet'],
  ]);
});

it('waits for the other writes when one fails, and does not write the workload', async () => {
  const { writer, steps } = recordingWriter('Role');
  await expect(writeChildren(writer, children, options)).rejects.toThrow('Role failed');
  expect(steps).toEqual(['+Role', '+ConfigMap', '+ServiceAccount', '-ConfigMap', '-ServiceAccount']);
});
