import { ConfigMap, Deployment, keyOf } from '@bowline/kubernetes';
import { type CleanupTier, cleanUpTiers, controller, fieldManagerOf, release, saveBackup } from '@bowline/runtime';
import { desiredPart, desiredSettings, marksOf, PART, type Part, SHOP } from './desired.ts';
import { Shop } from './shop.ts';

/** The operator's and the controller's name: what is written through `live` is written under the same name as the rest. */
const fieldManager = fieldManagerOf({ name: 'shops', domain: 'example.com' }, 'shop');

/** shopController keeps the settings and the two parts of every Shop, and takes them down in order. */
export const shopController = controller(Shop)
  .owns(Deployment, { remove: true })
  .watches(ConfigMap, {
    view: 'metadata',
    labelSelector: SHOP,
    map: ({ metadata }) => [{ namespace: metadata.namespace, name: metadata.labels?.[SHOP] ?? '' }],
  })
  .ensures(ConfigMap)
  .reconcile(async ({ object, apply, ensure, live, event }) => {
    const { outcome } = await ensure(ConfigMap, desiredSettings(object), {
      labels: marksOf(object),
      adopt: object.spec.settings.adopt,
      backup: ({ metadata, data, binaryData }) =>
        saveBackup({
          client: live,
          fieldManager,
          resource: ConfigMap,
          key: { namespace: metadata?.namespace, name: `${metadata?.name}-before-shop` },
          content: { data, binaryData },
        }),
      exact: ['data', 'binaryData'],
    });
    if (outcome === 'adopted') event('Normal', 'Adopted', 'took the settings over; what they were is saved');
    await apply(Deployment, desiredPart(object, 'back'));
    await apply(Deployment, desiredPart(object, 'front'));
  })
  .cleanup(async ({ object, key, deletion, live, remove, clock, status, signal }) => {
    const tier = (part: Part): CleanupTier => ({
      name: part,
      // Asked of the API server: what a cache does not have yet would stay behind.
      async find() {
        const labelSelector = `${SHOP}=${key.name},${PART}=${part}`;
        const { items } = await live.list(Deployment, { namespace: key.namespace, labelSelector });
        return items.map((each) => ({ resource: Deployment, object: each }));
      },
    });
    const { isDone, waiting, requeueAfterMs } = await cleanUpTiers([tier('front'), tier('back')], {
      client: live,
      clock,
      fieldManager,
      deletion,
      // In the foreground, whatever was asked for the Shop: a Deployment is gone when its Pods are.
      remove: ({ object: each }) =>
        remove(Deployment, keyOf(each), { uid: each.metadata?.uid, propagationPolicy: 'Foreground' }),
      timeoutMs: 120_000,
      signal,
    });
    if (!isDone) {
      const names = waiting.map((each) => `${each.key.name}${each.isOverdue ? ' (overdue)' : ''}`);
      status.condition('Ready', false, 'ShuttingDown', `waits for ${names.join(', ')} to go`);
      return { requeueAfterMs };
    }
    const settings = await live.find(ConfigMap, keyOf(desiredSettings(object)));
    // The settings stay with whoever chose their name, without our mark.
    if (settings?.metadata?.labels?.[SHOP] === key.name) {
      await release(live, ConfigMap, settings, { fieldManager, labels: [SHOP], signal });
    }
    return undefined;
  });
