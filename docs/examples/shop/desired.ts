import { type ConfigMap, type Deployment, keyOf } from '@bowline/kubernetes';
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

/** desiredSettings is the ConfigMap under the name that the user chose. */
export function desiredSettings(shop: Shop): ConfigMap {
  const { name, values } = shop.spec.settings;
  return { metadata: { namespace: keyOf(shop).namespace, name }, data: values };
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
