import { ConfigMap, type Deployment, keyOf, type ObjectKey } from '@bowline/kubernetes';
import { managedContent } from '@bowline/runtime';
import type { Shop } from './shop.ts';

/** Part is one of the two parts of a Shop. */
export type Part = 'front' | 'back';

/** The label with the name of the Shop, on all of its objects. */
export const SHOP = 'example.com/shop';
/** The label with the part, on Deployments. */
export const PART = 'example.com/part';

/** shopLabels returns the labels that identify the settings of a Shop, which have no owner reference. */
export function shopLabels(shop: Shop): Record<string, string> {
  return { [SHOP]: keyOf(shop).name };
}

/** settings defines how the ConfigMap with the name from the spec is stored, and what the cache keeps of it. */
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
  operatorAnnotations: {},
  labelPrefix: 'example.com/',
  backup: { suffix: '-before-shop', label: 'example.bowline.dev/backup-of' },
});

/** settingsKey returns the key of the ConfigMap with the settings. */
export function settingsKey(shop: Shop): ObjectKey {
  return { namespace: keyOf(shop).namespace, name: shop.spec.settings.name };
}

/** desiredSettings returns the desired content of the settings. */
export function desiredSettings(shop: Shop): ReturnType<typeof settings.desired> {
  return settings.desired({
    content: { data: shop.spec.settings.values, binaryData: {} },
    labels: shopLabels(shop),
    operatorAnnotations: {},
  });
}

/** desiredPart returns the Deployment of a part. */
export function desiredPart(shop: Shop, part: Part): Deployment {
  const { namespace, name } = keyOf(shop);
  const labels = { ...shopLabels(shop), [PART]: part };
  const { image, settings } = shop.spec;
  const container = { name: part, image, envFrom: [{ configMapRef: { name: settings.name } }] };
  return {
    metadata: { namespace, name: `${name}-${part}`, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } },
  };
}
