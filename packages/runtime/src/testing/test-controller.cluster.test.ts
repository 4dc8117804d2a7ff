import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { managedContent } from '../content/managed-content.ts';
import { controller } from '../controller/builder.ts';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { given, testController } from './index.ts';

const Site = defineResource({
  group: 'unit.test.bowline.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ title: s.string(), pages: s.integer().default(1) }),
  status: s.object({ words: s.integer().optional() }),
});

const chosen = managedContent({
  resource: Secret,
  maps: ['data'],
  managers: ['unit'],
  annotations: { hash: 'unit.test/hash', time: 'unit.test/written-at', keys: 'unit.test/keys' },
  operatorAnnotations: {},
});

const sites = controller(Site)
  .owns(ConfigMap)
  .ensures(Secret)
  .reconcile(async ({ object, key, apply, ensure, status, event }) => {
    const { title, pages } = object.spec;
    await apply(ConfigMap, { metadata: { ...key, labels: { site: key.name } }, data: { title, pages: String(pages) } });
    const desired = chosen.desired({
      content: { data: { title: btoa(title) } },
      operatorAnnotations: {},
      members: { type: 'Opaque' },
    });
    await ensure(chosen, { ...key, name: 'chosen' }, desired, { claim: () => 'ours' });
    status.set({ words: title.split(' ').length });
    event('Normal', 'Published', 'it is published');
  })
  .cleanup(() => {});

/** Returns what must be the same wherever the controller runs: everything except identities and times. */
function comparable(object: KubernetesObject | undefined): unknown {
  const text = JSON.stringify(
    { ...object, metadata: { ...object?.metadata, namespace: 'n' } },
    (name, value: unknown) =>
      [
        'uid',
        'resourceVersion',
        'creationTimestamp',
        'lastTransitionTime',
        'time',
        'generation',
        'unit.test/written-at',
      ].includes(name)
        ? undefined
        : value,
  );
  const { managedFields, ...metadata } = (JSON.parse(text) as KubernetesObject).metadata ?? {};
  // Managers are ordered by their times, which are ignored here.
  const managers = managedFields?.toSorted((a, b) =>
    `${a.manager} ${a.operation}` < `${b.manager} ${b.operation}` ? -1 : 1,
  );
  return { ...JSON.parse(text), metadata: { ...metadata, managers } };
}

it('produces the same objects, field managers, status and events as a cluster', async () => {
  const operator = defineOperator({ name: 'sites', domain: 'bowline.dev', resources: [Site], controllers: [sites] });
  await using c = await cluster({ operators: [operator] });
  const key = { namespace: c.namespace, name: 'a' };
  const site = { metadata: key, spec: { title: 'hello world' } };
  await c.admin.create(Site, site);
  await c.until(Site, key, ({ status }) => status?.words !== undefined);
  await c.idle();

  // The uid is part of references and field sets.
  const { uid } = (await c.admin.get(Site, key)).metadata ?? {};
  const objects = [given(Site, { ...site, metadata: { ...key, uid } })];
  await using t = await testController(sites, { operator: 'sites', domain: 'bowline.dev', objects });
  await t.reconcile(key);
  const secret = { ...key, name: 'chosen' };
  expect(comparable(t.get(ConfigMap, key))).toEqual(comparable(await c.admin.get(ConfigMap, key)));
  expect(comparable(t.get(Secret, secret))).toEqual(comparable(await c.admin.get(Secret, secret)));
  const stored = await c.admin.get(Site, key);
  const made = t.get(Site, key);
  expect(made?.metadata?.finalizers).toEqual(stored.metadata?.finalizers);
  expect(comparable({ ...made, metadata: {} })).toEqual(comparable({ ...stored, metadata: {} }));
  const sent = await c.untilList(Event, {}, (events) => events.some(({ regarding }) => regarding?.kind === 'Site'));
  expect(t.events.map(({ type, reason, note }) => ({ type, reason, note }))).toEqual(
    sent
      .filter(({ regarding }) => regarding?.kind === 'Site')
      .map(({ type, reason, note }) => ({ type, reason, note })),
  );
});
