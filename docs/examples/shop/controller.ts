import { ConfigMap, Deployment, keyOf, keyString } from '@bowline/kubernetes';
import { controller, slow } from '@bowline/runtime';
import { type CleanupTier, cleanUpTiers } from '@bowline/runtime/writing';
import { desiredPart, desiredSettings, PART, type Part, SHOP, settings, settingsKey } from './desired.ts';
import { Shop } from './shop.ts';

/** shopController manages the settings and the two parts of every Shop, and deletes them in order. */
export const shopController = controller(Shop)
  .owns(Deployment, { remove: true })
  .watches(ConfigMap, {
    view: settings.view,
    labelSelector: SHOP,
    map: ({ namespace, labels }) => [{ namespace, name: labels[SHOP] ?? '' }],
  })
  .ensures(ConfigMap)
  .reconcile(async ({ object, key, apply, ensure, event }) => {
    const chosen = settingsKey(object);
    const { outcome, stop } = await ensure(settings, chosen, desiredSettings(object), {
      claim: ({ labels }) => (labels[SHOP] === key.name ? 'ours' : 'foreign'),
      adopt: object.spec.settings.adopt,
    });
    if (stop) {
      const problem = `cannot write ConfigMap ${keyString(chosen)} (${stop.reason})`;
      throw slow('ForeignObject', `${problem}; delete it, or set spec.settings.adopt to true`);
    }
    if (outcome === 'adopted') event('Normal', 'Adopted', 'adopted the settings, and saved their previous content');
    await apply(Deployment, desiredPart(object, 'back'));
    await apply(Deployment, desiredPart(object, 'front'));
  })
  .cleanup(async (context) => {
    const { object, key, deletion, live, remove, release, status } = context;
    const tier = (part: Part): CleanupTier => ({
      name: part,
      // Read from the API server: the cache may not have all objects yet.
      async find() {
        const labelSelector = `${SHOP}=${key.name},${PART}=${part}`;
        const { items } = await live.list(Deployment, { namespace: key.namespace, labelSelector });
        return items.map((each) => ({ resource: Deployment, object: each }));
      },
    });
    const { isDone, waiting, requeueAfterMs } = await cleanUpTiers(context, [tier('front'), tier('back')], {
      deletion,
      // In the foreground, regardless of how the Shop is deleted: the Deployment exists until its Pods are deleted.
      remove: ({ object: each }) =>
        remove(Deployment, keyOf(each), { uid: each.metadata?.uid, propagationPolicy: 'Foreground' }),
      timeoutMs: 120_000,
    });
    if (!isDone) {
      const names = waiting.map((each) => `${each.key.name}${each.isOverdue ? ' (overdue)' : ''}`);
      status.condition('Ready', false, 'ShuttingDown', `waiting for the deletion of ${names.join(', ')}`);
      return { requeueAfterMs };
    }
    const stored = await live.find(ConfigMap, settingsKey(object));
    const isOurs = ({ labels }: ReturnType<typeof settings.viewOf>): boolean => labels[SHOP] === key.name;
    // The settings are kept for the user, without our labels and annotations.
    if (stored && isOurs(settings.viewOf(stored))) {
      await release(settings, settings.viewOf(stored), { delete: false, isStillOurs: isOurs });
    }
    return undefined;
  });
