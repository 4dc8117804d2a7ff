import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { admit, controller, defineOperator, deny, installNamespace, validating } from '@bowline/runtime';
import { s } from '@bowline/runtime/resource';
import { expect, it } from 'vitest';
import { cluster } from './cluster.ts';

interface Config {
  readonly target: string;
}

const target = installNamespace('target', (config: Config) => config.target, {
  labels: { 'example.com/target': 'yes' },
});

/** Copies ConfigMaps into a namespace that is a setting, and refuses some of them there and elsewhere. */
const copies = defineOperator({
  name: 'copies',
  domain: 'example.com',
  config: s.object({ target: s.string() }),
  setup: ({ config }) => config,
  namespaces: [target],
  controllers: [
    controller(ConfigMap, { name: 'copies', labelSelector: 'copy' })
      .using<Config>()
      .applies(ConfigMap, { namespaces: [target.name] })
      .reconcile(async ({ key, object, apply, deps }) => {
        const metadata = { namespace: deps.target, name: key.name };
        await apply(ConfigMap, { metadata, data: object.data }, { owner: null, labels: { copied: '' } });
      }),
  ],
  webhooks: [
    validating(ConfigMap, { name: 'refused', operations: ['CREATE'] }).handle(({ object }) =>
      object.metadata?.labels?.refused === undefined ? admit() : deny('it is refused'),
    ),
  ],
});

const source = (namespace: string) => ({ metadata: { namespace, name: 'a', labels: { copy: '' } }, data: { a: 'b' } });

it('creates a namespace that a setting names, with its labels, for the webhooks of the test, and deletes it with the test', async () => {
  await using observer = await cluster();
  let name = '';
  {
    await using c = await cluster({
      operators: [copies],
      config: (c) => {
        name = c.uniqueName('target');
        return { copies: { target: name } };
      },
    });
    const { metadata } = await c.admin.get(Namespace, { name });
    expect(metadata?.labels).toMatchObject({ 'example.com/target': 'yes' });
    await c.admin.create(ConfigMap, source(c.namespace));
    await c.until(ConfigMap, { namespace: name, name: 'a' }, ({ data }) => data?.a === 'b');
    const refused = { metadata: { namespace: name, name: 'b', labels: { refused: '' } } };
    await expect(c.admin.create(ConfigMap, refused)).rejects.toThrow('it is refused');
  }
  await observer.untilGone(Namespace, { name });
});

it('works in a namespace of the test that a setting names, and replaces one that is in deletion', async () => {
  const name = 'install-namespaces-fixed';
  for (const value of ['first', 'second']) {
    await using c = await cluster({ operators: [copies], config: { copies: { target: name } } });
    await c.admin.create(ConfigMap, { ...source(c.namespace), data: { a: value } });
    await c.until(ConfigMap, { namespace: name, name: 'a' }, ({ data }) => data?.a === value);
  }
  await using c = await cluster({
    operators: [copies],
    config: (c) => ({ copies: { target: c.namespace } }),
  });
  expect((await c.admin.get(Namespace, { name: c.namespace })).metadata?.labels).toMatchObject({
    'example.com/target': 'yes',
  });
});
