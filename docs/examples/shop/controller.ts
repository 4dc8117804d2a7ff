import { ConfigMap, Deployment, keyOf, keyString } from '@bowline/kubernetes';
import { controller, slow } from '@bowline/runtime';
import { type CleanupTier, cleanUpTiers } from '@bowline/runtime/writing';
import { desiredPart, desiredSettings, PART, type Part, SHOP, settings, settingsKey } from './desired.ts';
import { Shop } from './shop.ts';

/** shopController keeps the settings and the two parts of every Shop, and takes them down in order. */
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
    if (stop) throw slow('ForeignObject', `ConfigMap ${keyString(chosen)} is not ours (${stop.reason}); set adopt`);
    if (outcome === 'adopted') event('Normal', 'Adopted', 'took the settings over; what they were is saved');
    await apply(Deployment, desiredPart(object, 'back'));
    await apply(Deployment, desiredPart(object, 'front'));
  })
  .cleanup(async (context) => {
    const { object, key, deletion, live, remove, release, status } = context;
    const tier = (part: Part): CleanupTier => ({
      name: part,
      // Asked of the API server: what a cache does not have yet would stay behind.
      async find() {
        const labelSelector = `${SHOP}=${key.name},${PART}=${part}`;
        const { items } = await live.list(Deployment, { namespace: key.namespace, labelSelector });
        return items.map((each) => ({ resource: Deployment, object: each }));
      },
    });
    const { isDone, waiting, requeueAfterMs } = await cleanUpTiers(context, [tier('front'), tier('back')], {
      deletion,
      // In the foreground, whatever was asked for the Shop: a Deployment is gone when its Pods are.
      remove: ({ object: each }) =>
        remove(Deployment, keyOf(each), { uid: each.metadata?.uid, propagationPolicy: 'Foreground' }),
      timeoutMs: 120_000,
    });
    if (!isDone) {
      const names = waiting.map((each) => `${each.key.name}${each.isOverdue ? ' (overdue)' : ''}`);
      status.condition('Ready', false, 'ShuttingDown', `waiting for ${names.join(', ')} to be deleted`);
      return { requeueAfterMs };
    }
    const stored = await live.find(ConfigMap, settingsKey(object));
    const isOurs = ({ labels }: ReturnType<typeof settings.viewOf>): boolean => labels[SHOP] === key.name;
    // The settings stay with whoever chose their name, without our labels and annotations.
    if (stored && isOurs(settings.viewOf(stored))) {
      await release(settings, settings.viewOf(stored), { delete: false, isStillOurs: isOurs });
    }
    return undefined;
  });
