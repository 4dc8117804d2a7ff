import { cluster } from '@bowline/control-plane/testing';
import { CustomResourceDefinition } from '@bowline/kubernetes';
import { type JsonObject, seededRandom } from '@bowline/machinery';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../testing/wait-for.ts';
import { RANDOM_KINDS, randomSteps } from './random-steps.test-support.ts';
import { RECORDED_AT, Recorder, record, type Send, translated } from './record.test-support.ts';
import { isPartOf, refusalOf, replay, written } from './replay.test-support.ts';
import { FREE, WIDGET } from './sequence.test-support.ts';
import { SEQUENCES } from './sequences.test-support.ts';

type TestCluster = Awaited<ReturnType<typeof cluster>>;

/** sender returns a Send that makes requests as admin. */
async function sender(c: TestCluster): Promise<Send> {
  const kubeconfig = await c.kubeconfig('admin');
  const connection = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
  const transport = connect(connection);
  c.onDispose(() => transport.close());
  return async (method, path, body, type = 'application/json') => {
    const headers = { accept: 'application/json', 'content-type': type, 'user-agent': 'test' };
    const response = await transport.request({
      method,
      path,
      lane: 'call',
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, text: await response.text() };
  };
}

/** installKinds defines the custom resources of the sequences, in a separate group. */
async function installKinds(c: TestCluster): Promise<string> {
  const group = `${c.uniqueName('fields')}.test`;
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  };
  const kinds = [
    { kind: 'Widget', plural: 'widgets', versions: ['v1'], schema: WIDGET, subresources },
    { kind: 'Free', plural: 'frees', versions: ['v1', 'v2'], schema: FREE, subresources: {} },
  ];
  for (const { kind, plural, versions, schema, subresources: parts } of kinds) {
    const name = `${plural}.${group}`;
    await c.admin.create(CustomResourceDefinition, {
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: versions.map((version, index) => ({
          name: version,
          served: true,
          storage: index === 0,
          subresources: parts,
          schema: { openAPIV3Schema: schema },
        })),
      },
    });
    c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
    const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
      status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false;
    await c.until(CustomResourceDefinition, { name }, isEstablished);
  }
  return group;
}

/** nextSecond waits until the server's clock shows another second: its times are whole seconds. */
async function nextSecond(send: Send, namespace: string): Promise<void> {
  const look = async (): Promise<unknown> => {
    const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
    const { text } = await send('POST', path, JSON.stringify({ metadata: { name: 'clock' } }));
    return (JSON.parse(text) as { metadata: JsonObject }).metadata.creationTimestamp;
  };
  const now = await look();
  await waitFor('another second of the server', async () => (await look()) !== now);
}

/** start installs the kinds of a test. It returns a sender, and a sender per number that translates the names of an object. */
async function start(c: TestCluster): Promise<{ readonly send: Send; readonly sendFor: (number: number) => Send }> {
  const send = await sender(c);
  const group = await installKinds(c);
  await waitFor('the custom resources to be served', async () => {
    const paths = ['v1/%/widgets', 'v1/%/frees', 'v2/%/frees'];
    const responses = await Promise.all(
      paths.map((path) => send('GET', `/apis/${group}/${path.replace('%', `namespaces/${c.namespace}`)}`)),
    );
    return responses.every(({ status }) => status === 200);
  });
  const sendFor = (number: number): Send =>
    translated(send, { group, namespace: c.namespace, name: `object-number-${number}-of-a-test` });
  return { send, sendFor };
}

const metadataOf = (object: JsonObject | undefined): JsonObject | undefined =>
  object?.metadata as JsonObject | undefined;

/** Many writes happen in the same second: entries are compared by manager, without times. */
const timeless = (managedFields: unknown): unknown =>
  Object.fromEntries(
    ((managedFields ?? []) as JsonObject[]).map((entry) => [
      `${String(entry.operation)} ${String(entry.manager)} ${String(entry.apiVersion)} ${String(entry.subresource)}`,
      entry.fieldsV1,
    ]),
  );

describe('managedFields on a control plane', () => {
  test('are as recorded, for every sequence of writes', { timeout: 120_000 }, async () => {
    await using c = await cluster({ prefix: 'fields' });
    const { send, sendFor } = await start(c);
    const recorded = await record(SEQUENCES, sendFor, () => nextSecond(send, c.namespace));
    const lines = [...recorded].flatMap(([sequence, steps]) =>
      steps.map((outcome) => `${JSON.stringify({ sequence, ...outcome })}\n`),
    );
    await expect(lines.join('')).toMatchFileSnapshot('testdata/recorded-sequences.jsonl');
  });

  test('match trackFields for random writes', { timeout: 120_000 }, async () => {
    await using c = await cluster({ prefix: 'fields' });
    const { sendFor } = await start(c);
    const random = seededRandom(20_261_116);
    const count = { conflicts: 0, written: 0 };
    for (let number = 0; number < 24; number++) {
      const kind = RANDOM_KINDS[number % RANDOM_KINDS.length] ?? 'Widget';
      const recorder = new Recorder(kind, sendFor(number));
      const steps = randomSteps(random, kind, 12);
      for (const [index, step] of steps.entries()) {
        const before = recorder.object;
        const outcome = await recorder.take(step);
        const label = JSON.stringify(steps.slice(0, index + 1));
        const after = recorder.object;
        if (!after) continue;
        const { error, managedFields, merged } = replay(kind, step, before, after, RECORDED_AT);
        if (outcome.status < 300 || error) expect(error && refusalOf(error), label).toEqual(outcome.error);
        if (error?.code === 409) count.conflicts++;
        if (outcome.status >= 300) continue;
        count.written++;
        expect(timeless(managedFields), label).toEqual(timeless(metadataOf(after)?.managedFields));
        if (merged) expect(isPartOf(written(merged, kind, step.on), after), label).toBe(true);
      }
    }
    expect(count.conflicts).toBeGreaterThan(20);
    expect(count.written).toBeGreaterThan(150);
  });
});
