import { ConfigMap, type Deployment, keyOf, type ObjectKey } from '@bowline/kubernetes';
import { managedContent } from '@bowline/runtime';
import type { Shop } from './shop.ts';

/** Part is what a shop consists of. */
export type Part = 'front' | 'back';

/** On everything of a shop: its name. */
export const SHOP = 'example.com/shop';
/** On a Deployment: which part it is. */
export const PART = 'example.com/part';

/** marksOf are the labels by which a shop knows its settings, which it does not own. */
export function marksOf(shop: Shop): Record<string, string> {
  return { [SHOP]: keyOf(shop).name };
}

/** settings is how the ConfigMap under the name that the user chose is stored, and what the cache keeps of it. */
export const settings = managedContent({
  resource: ConfigMap,
  maps: ['data', 'binaryData'],
  managers: ['shops'],
  annotations: {
    hash: 'example.bowline.dev/settings-hash',
    time: 'example.bowline.dev/written-at',
    keys: 'example.bowline.dev/settings-keys',
    adopted: 'example.bowline.dev/adopted',
    previousManager: 'example.bowline.dev/previous-manager',
  },
  marks: {},
  labelPrefix: 'example.com/',
  backup: { suffix: '-before-shop', label: 'example.bowline.dev/backup-of' },
});

/** settingsKey is the name that the user chose. */
export function settingsKey(shop: Shop): ObjectKey {
  return { namespace: keyOf(shop).namespace, name: shop.spec.settings.name };
}

/** desiredSettings is what the settings should hold. */
export function desiredSettings(shop: Shop): ReturnType<typeof settings.desired> {
  return settings.desired({
    content: { data: shop.spec.settings.values, binaryData: {} },
    labels: marksOf(shop),
    marks: {},
  });
}

/** desiredPart is the Deployment of a part, under a name that we make. */
export function desiredPart(shop: Shop, part: Part): Deployment {
  const { namespace, name } = keyOf(shop);
  const labels = { ...marksOf(shop), [PART]: part };
  const { image, settings } = shop.spec;
  const container = { name: part, image, envFrom: [{ configMapRef: { name: settings.name } }] };
  return {
    metadata: { namespace, name: `${name}-${part}`, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
  };
}
