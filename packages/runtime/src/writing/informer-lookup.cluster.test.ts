import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, keyOf } from '@bowline/kubernetes';
import { expect, test } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { project, trigger } from '../cache/view.ts';
import { informerLookup } from './informer-lookup.ts';

const LABEL = 'test.bowline.dev/copy-of';
const labels = { [LABEL]: 'a' };

test('a cache reports an object as absent only if it would contain it', async () => {
  await using c = await cluster();
  const stop = new AbortController();
  const cache = new Cache({ client: c.admin });
  const scope = { namespaces: [c.namespace] };
  const informers = {
    all: cache.informer(ConfigMap, scope),
    labelled: cache.informer(ConfigMap, { ...scope, labelSelector: LABEL }),
    named: cache.informer(ConfigMap, { ...scope, fieldSelector: 'metadata.name=a' }),
    elsewhere: cache.informer(ConfigMap, { namespaces: ['default'] }),
    some: cache.informer(ConfigMap, { ...scope, view: project(({ data }: ConfigMap) => data?.a) }),
    fussy: cache.informer(ConfigMap, { ...scope, view: project((map: ConfigMap) => map.metadata?.uid?.length) }),
    broken: cache.informer(ConfigMap, {
      ...scope,
      view: project(() => {
        throw new TypeError('made for something else');
      }),
    }),
    triggering: cache.informer(ConfigMap, { ...scope, view: trigger(({ name }) => name === 'a') }),
  };
  const running = cache.run(stop.signal);
  await Promise.all(Object.values(informers).map((informer) => informer.synced()));
  const key = { namespace: c.namespace, name: 'a' };
  const decidingInformers = (desired?: ConfigMap): string[] =>
    Object.entries(informers)
      .filter(([, informer]) => informerLookup([informer])(ConfigMap, desired ? keyOf(desired) : key, desired))
      .map(([name]) => name);
  expect(decidingInformers()).toEqual(['all']);
  expect(decidingInformers({ metadata: key })).toEqual(['all', 'named', 'triggering']);
  expect(decidingInformers({ metadata: { ...key, name: 'b' } })).toEqual(['all']);
  expect(decidingInformers({ metadata: { ...key, name: 'b', labels }, data: { a: '1' } })).toEqual([
    'all',
    'labelled',
    'some',
  ]);
  stop.abort();
  await running;
});
