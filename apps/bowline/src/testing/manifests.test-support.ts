import type { KubernetesObject } from '@bowline/kubernetes';
import { expect } from 'vitest';
import { bowline } from './test-operators.test-support.ts';

/** manifests returns the objects that `bowline manifests` prints. */
export async function manifests(...args: readonly string[]): Promise<readonly KubernetesObject[]> {
  const { code, out, err } = await bowline(['manifests', '--image', 'img:1', '-o', 'json', ...args]);
  expect(err).toBe('');
  expect(code).toBe(0);
  return (JSON.parse(out) as { items: KubernetesObject[] }).items;
}

/** findObject returns the object of a kind and name; the caller chooses the type. */
export function findObject<T extends KubernetesObject>(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): T {
  const found = objects.find((object) => object.kind === kind && object.metadata?.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found as T;
}
