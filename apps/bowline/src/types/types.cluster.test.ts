import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import type { KubernetesObject } from '@bowline/kubernetes';
import { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import type { Client } from '@bowline/runtime/client';
import { expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';
import { HTTPRouteV1, HTTPRouteV1beta1 } from './fixtures/routes.ts';

const fixture = (file: string): string => fileURLToPath(new URL(`fixtures/${file}`, import.meta.url));

/** install applies the definition of the fixture, and returns its name. */
async function install({ admin }: Cluster): Promise<string> {
  const documents = parseAllDocuments(readFileSync(fixture('routes.yaml'), 'utf8'));
  const definition = documents[1]?.toJS() as CustomResourceDefinition;
  const { name = '' } = definition.metadata ?? {};
  const apply = { type: 'apply', body: definition, force: true } as const;
  await admin.patch(CustomResourceDefinition, { name }, apply, { fieldManager: 'example' });
  return name;
}

it('reads definitions from a cluster, and writes the same module as from their file', async () => {
  await using c = await cluster({ prefix: 'types' });
  await using files = await temporaryFiles();
  const name = await install(c);
  const kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));

  const { code, out, err } = await bowline(['types', '--kubeconfig', kubeconfig, '--crd', name]);
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(readFileSync(fixture('routes.ts'), 'utf8'));

  const missing = await bowline(['types', '--kubeconfig', kubeconfig, '--crd', 'gateways.net.example.com']);
  expect(missing).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('`kubectl get crds` lists the existing'),
  });
});

it('generates kinds with which objects are written and read in every version', async () => {
  await using c = await cluster({ prefix: 'types' });
  await install(c);
  await vi.waitFor(() => c.admin.list(HTTPRouteV1), { timeout: 20_000 });
  const name = c.uniqueName('route');
  const spec = {
    rules: [{ backends: [80, 'https'], weights: { a: { weight: null } } }],
    free: { a: { b: 1 } },
    open: { known: 'x', other: [1] },
    template: { apiVersion: 'v1', kind: 'Pod', spec: {} },
    'kebab-case': 'y',
  };
  const created = await c.admin.create(HTTPRouteV1, { metadata: { name }, spec });
  expect(created.spec).toEqual({ ...spec, mode: 'Exact' });
  const beta = await c.admin.get(HTTPRouteV1beta1, { name });
  expect(beta).toMatchObject({ apiVersion: 'net.example.com/v1beta1', spec: { mode: 'Exact' } });
  await c.admin.delete(HTTPRouteV1, { name });
});

/** What the compiler must accept and reject: `npm run check` fails where it does not. */
export async function typesHold(client: Client): Promise<void> {
  const route = await client.get(HTTPRouteV1, { name: 'a' });
  route.spec.mode satisfies 'Exact' | "Prefix's" | undefined;
  route.spec.level satisfies 1 | 2 | undefined;
  route.spec.template satisfies KubernetesObject | undefined;
  route.spec.matrix satisfies readonly (readonly (string | null)[])[] | undefined;
  route.spec.open?.known satisfies string | undefined;
  route.status?.aB?.y satisfies string | undefined;
  // @ts-expect-error one of two values
  route.spec.mode satisfies 'Exact' | undefined;
  // @ts-expect-error there is no such field
  route.spec.rule satisfies unknown;
  // @ts-expect-error rules are required
  await client.create(HTTPRouteV1, { metadata: { name: 'b' }, spec: {} });
  // @ts-expect-error objects that were read are read-only
  route.spec.timeout = 1;
  // @ts-expect-error one kind does not stand for another
  HTTPRouteV1beta1 satisfies typeof HTTPRouteV1;
}
