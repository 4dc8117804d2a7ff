import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { type ApiError, isInvalid } from '@bowline/runtime/client';
import type { WrittenOf } from '@bowline/runtime/resource';
import { expect, test } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { configMapSync } from '../operator.ts';

test('rejects specs that the schema cannot reject, and is called only for changed specs', async () => {
  await using c = await cluster({ operators: [configMapSync], prefix: 'review' });
  const { namespace } = c;
  const target = await c.createNamespace('review-target');
  const syncOf = (name: string, spec: Partial<WrittenOf<typeof ConfigMapSync>['spec']>) =>
    ConfigMapSync.withDefaults({
      metadata: { namespace, name },
      spec: { sourceNamespace: namespace, configMapName: 'm', destinationNamespace: target, ...spec },
    });
  const problem = async (attempt: Promise<unknown>): Promise<ApiError> => {
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    if (!isInvalid(error)) throw new Error('expected the request to be rejected as Invalid', { cause: error });
    return error;
  };
  await c.admin.create(ConfigMap, { metadata: { namespace, name: 'm' }, data: { a: '1' } });

  const transforms = [{ template: { key: 'b', template: '{{ data.a' } }];
  const invalid = await problem(c.admin.create(ConfigMapSync, syncOf('invalid', { transforms })));
  expect(invalid.causes.map(({ field }) => field)).toEqual(['spec.transforms[0].template.template']);

  await c.admin.create(ConfigMapSync, syncOf('forth', {}));
  await c.until(ConfigMapSync, { name: 'forth' }, (sync) => findCondition(sync, 'Ready')?.status === 'True');
  const back = syncOf('back', { sourceNamespace: target, destinationNamespace: namespace });
  const cycle = await problem(c.admin.create(ConfigMapSync, back));
  expect(cycle.message).toContain(`${namespace}/m is copied back to ${target}/m`);

  await c.stop();
  const key = { namespace, name: 'forth' };
  const change = (body: object) => c.admin.patch(ConfigMapSync, key, { type: 'merge', body });
  await expect(change({ spec: { paused: true } })).rejects.toMatchObject({
    message: expect.stringContaining('review.configmap-sync.bowline.dev') as string,
  });
  await change({ metadata: { labels: { team: 'blue' } } });
  await c.admin.delete(ConfigMapSync, key);
  await change({ metadata: { finalizers: null } });
  await c.untilGone(ConfigMapSync, { name: 'forth' });
});
