import { cluster } from '@bowline/control-plane/testing';
import {
  apiVersionOf,
  ConfigMap,
  Deployment,
  type KubernetesObject,
  Pod,
  PodTemplate,
  type Resource,
  Service,
} from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { type JsonObject, StrategicMergeError, seededRandom, strategicMerge } from '@bowline/machinery';
import { ApiError } from '@bowline/runtime/client';
import { expect, test } from 'vitest';
import { randomPatch } from './random-patches.test-support.ts';

const RUNS = 60;
const OPTIONS = { dryRun: true, fieldValidation: 'Ignore' } as const;

const METADATA = {
  labels: { app: 'a', tier: 'b' },
  annotations: { note: 'c' },
  finalizers: ['bowline.dev/b', 'bowline.dev/a'],
};
const TEMPLATE = {
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [
      {
        name: 'one',
        image: 'one:1',
        args: ['a', 'b'],
        env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }, { name: 'C' }],
        ports: [{ containerPort: 80 }, { containerPort: 81, name: 'metrics' }],
        resources: { limits: { cpu: '1', memory: '1Gi' } },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'config', mountPath: '/config' },
        ],
      },
      { name: 'two', image: 'two:1' },
      { name: 'three', image: 'three:1', env: [{ name: 'A', value: '1' }] },
    ],
    volumes: [
      { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'config', configMap: { name: 'config' } },
    ],
    tolerations: [{ key: 'a', operator: 'Exists' }],
    nodeSelector: { disk: 'ssd' },
    securityContext: { runAsUser: 1000 },
  },
};

const OBJECTS: readonly [Resource<KubernetesObject>, JsonObject][] = [
  [ConfigMap, { data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } }],
  [
    Service,
    {
      spec: {
        selector: { app: 'a' },
        ports: [
          { name: 'web', port: 80 },
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53 },
        ],
      },
    },
  ],
  [PodTemplate, { template: TEMPLATE }],
  [Pod, { spec: { ...TEMPLATE.spec, schedulerName: 'nobody' } }],
  [Deployment, { spec: { replicas: 0, paused: true, selector: { matchLabels: { app: 'a' } }, template: TEMPLATE } }],
];

/** outcomeOf returns an outcome without values that depend on its time. */
async function outcomeOf(response: Promise<KubernetesObject>): Promise<unknown> {
  try {
    const { status: _, ...object } = (await response) as JsonObject & KubernetesObject;
    return { ...object, metadata: { ...object.metadata, managedFields: undefined, resourceVersion: undefined } };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, causes } = error;
    // The merged object does not fit the kind: patch and update report this with different messages.
    const isUnreadable = status === 400 || causes.some(({ field }) => field === 'patch');
    return isUnreadable ? 'unreadable' : { status, causes };
  }
}

async function subject(
  c: Awaited<ReturnType<typeof cluster>>,
  resource: Resource<KubernetesObject>,
  content: JsonObject,
) {
  const key = { name: 'subject', namespace: c.namespace };
  await c.admin.create(resource, { metadata: { ...METADATA, ...key }, ...content });
  c.onDispose(() => c.admin.patch(resource, key, { type: 'merge', body: { metadata: { finalizers: null } } }));
  const document =
    resource.kind === 'Deployment'
      ? await c.until(resource, key, (object) => (object as Deployment).status?.observedGeneration === 1)
      : await c.admin.get(resource, key);
  const schema = schemaFor(apiVersionOf(resource), resource.kind);
  if (!schema) throw new TypeError(`no schema is known for ${resource.kind}`);
  return { key, document: document as unknown as JsonObject, schema };
}

test.each(OBJECTS)('merges generated patches of a $kind as the real server does', async (resource, content) => {
  await using c = await cluster({ prefix: 'strategic' });
  const { key, document, schema } = await subject(c, resource, content);
  let [accepted, refused] = [0, 0];
  for (let seed = 0; seed < RUNS; seed++) {
    const body = randomPatch(seededRandom(seed), document, schema);
    const patched = c.admin.patch(resource, key, { type: 'strategic', body }, OPTIONS);
    const label = `seed ${seed}: ${JSON.stringify(body)}`;
    let ours: KubernetesObject;
    try {
      ours = strategicMerge(document, body, schema) as KubernetesObject;
    } catch (error) {
      if (!(error instanceof StrategicMergeError)) throw error;
      // Of several mistakes the real server reports any one, so it is enough that it reports one.
      await expect(patched, label).rejects.toMatchObject({
        status: expect.toSatisfy((code) => code === 400 || code === 500),
      });
      refused++;
      continue;
    }
    const real = await outcomeOf(patched);
    // To the real server, our result of the patch must equal its own.
    const replaced = { ...ours, metadata: { ...ours.metadata, resourceVersion: undefined } };
    expect(await outcomeOf(c.admin.update(resource, replaced, OPTIONS)), label).toEqual(real);
    if ((real as JsonObject).kind) accepted++;
  }
  // Patches that are mostly refused would prove little.
  expect(accepted).toBeGreaterThan(RUNS / 8);
  expect(refused).toBeGreaterThan(0);
});

const REFUSED: readonly JsonObject[] = [
  { $patch: 'merge' },
  { metadata: { labels: { $patch: 3, a: 1.5 } } },
  { metadata: { $deleteFromPrimitiveList: [] } },
  { metadata: { '$deleteFromPrimitiveList/finalizers': [{ a: true }] } },
  { metadata: { '$setElementOrder/finalizers': ['bowline.dev/a'], finalizers: ['bowline.dev/c'] } },
  { template: { $retainKeys: [], spec: {} } },
  { template: { spec: { containers: [{ name: 'one', $patch: 'merge' }] } } },
  { template: { spec: { containers: [{ name: 'one', $patch: null }] } } },
  { template: { spec: { containers: [{ $patch: 'delete' }] } } },
  { template: { spec: { containers: [{ image: 'x' }] } } },
  { template: { spec: { tolerations: [], volumes: ['x', null] } } },
  { template: { spec: { $setElementOrder: [] } } },
  { template: { spec: { '$setElementOrder/nope': [] } } },
  { template: { spec: { '$setElementOrder/dnsPolicy': [] } } },
  { template: { spec: { '$setElementOrder/volumes': ['data'], volumes: [{ name: 'data' }] } } },
  { template: { spec: { '$setElementOrder/volumes': [7] } } },
  { template: { spec: { '$setElementOrder/volumes': [{ name: 'data' }], volumes: null } } },
  { template: { spec: { '$setElementOrder/volumes': [{ name: 'x' }], volumes: [{ name: 'data' }] } } },
];

test('refuses patches with the message of the real server', async () => {
  await using c = await cluster({ prefix: 'strategic' });
  const { key, document, schema } = await subject(c, PodTemplate, { template: TEMPLATE });
  for (const body of REFUSED) {
    const refusal = await c.admin.patch(PodTemplate, key, { type: 'strategic', body }, OPTIONS).catch((error) => error);
    expect(refusal, JSON.stringify(body)).toBeInstanceOf(ApiError);
    const [, detail = ''] = /^cannot patch \S+ \S+ (.*)$/s.exec(refusal.message) ?? [];
    const code = refusal.status === 400 ? 'BOWLINE_PATCH_INVALID' : 'BOWLINE_PATCH_FAILED';
    const error = expect.objectContaining({
      code,
      message: `cannot apply the strategic merge patch: ${detail.trim()}`,
    });
    expect(() => strategicMerge(document, body, schema), JSON.stringify(body)).toThrow(error);
  }
});
