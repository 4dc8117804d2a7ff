import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition, type KubernetesObject, keyOf, resource } from '@bowline/kubernetes';
import { expect, test } from 'vitest';
import { acceleratedClock } from '../../../../test/support/fault-proxy/accelerated-clock.ts';
import { defineOperator } from '../operator/operator.ts';
import { controller } from './builder.ts';

const GROUP = 'optional.bowline.test';

interface Route extends KubernetesObject {
  readonly spec?: { readonly host?: string };
}
const Route = resource<Route>()({
  group: GROUP,
  version: 'v1',
  kind: 'OptionalRoute',
  plural: 'optionalroutes',
  scope: 'Namespaced',
});
const DEFINITION = `${Route.plural}.${GROUP}`;

const definition: CustomResourceDefinition = {
  metadata: { name: DEFINITION },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: Route.plural, singular: 'optionalroute', kind: Route.kind, listKind: `${Route.kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { host: { type: 'string' } } } },
          },
        },
      },
    ],
  },
};

test('works without an optional kind, uses it when its definition is installed, and notices its removal', async () => {
  /** What the last run of each key found. */
  const found = new Map<string, string>();
  const sites = controller(ConfigMap, { name: 'sites', labelSelector: 'optional-sources' })
    .watches(Route, { optional: true, map: ({ metadata }) => [keyOf({ metadata })] })
    .applies(Route)
    .reconcile(async ({ key, isServed, get, apply }) => {
      if (isServed(Route) && key.name === 'b') {
        await apply(Route, { metadata: key, spec: { host: 'applied.example' } });
      }
      found.set(key.name, `${isServed(Route)} ${get(Route, key)?.spec?.host}`);
    });
  const operator = defineOperator({ name: 'optional', domain: 'bowline.dev', controllers: [sites] });
  // It looks for kinds that are not served every 30 s.
  await using c = await cluster({ operators: [operator], wire: acceleratedClock(10) });
  await using _ = {
    async [Symbol.asyncDispose]() {
      const left = await c.admin.find(CustomResourceDefinition, { name: DEFINITION });
      if (left) await c.admin.delete(CustomResourceDefinition, { name: DEFINITION });
    },
  };
  const finds = (a: string, b: string) =>
    expect.poll(() => [found.get('a'), found.get('b')], { timeout: 60_000 }).toEqual([a, b]);
  for (const name of ['a', 'b']) {
    const labels = { 'optional-sources': 'yes' };
    await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name, labels } });
  }
  await finds('false undefined', 'false undefined');
  await c.idle();

  await c.admin.create(CustomResourceDefinition, definition);
  // Both run although neither has a Route.
  await finds('true undefined', 'true applied.example');
  await c.admin.create(Route, { metadata: { namespace: c.namespace, name: 'a' }, spec: { host: 'created.example' } });
  await finds('true created.example', 'true applied.example');
  await c.idle();

  await c.admin.delete(CustomResourceDefinition, { name: DEFINITION });
  await finds('false undefined', 'false undefined');
  await c.idle();
});
