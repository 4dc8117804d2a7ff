import { ConfigMap, Deployment } from '@bowline/kubernetes';
import { PART } from '../../../../docs/examples/shop/desired.ts';
import { shops } from '../../../../docs/examples/shop/operator.ts';
import { Shop } from '../../../../docs/examples/shop/shop.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

/** A shop adopts its settings, twice; its parts are repaired; everything is deleted in order. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'toys' };
  const settings = { namespace, name: 'settings' };
  await admin.create(ConfigMap, { metadata: settings, data: { color: 'red' } });
  const spec = { image: 'toys:1', settings: { name: 'settings', adopt: true, values: { color: 'blue' } } };
  await admin.create(Shop, Shop.withDefaults({ metadata: key, spec }));
  const untilSettled = async (times: number): Promise<void> => {
    await stage.until(ConfigMap, settings, ({ data }) => data?.color === 'blue');
    await untilEvent(stage, 'Adopted', times);
  };
  await untilSettled(1);
  for (const part of ['back', 'front']) {
    const child = { namespace, name: `toys-${part}` };
    await stage.until(Deployment, child, () => true);
    await admin.patch(Deployment, child, { type: 'merge', body: { metadata: { labels: { [PART]: 'other' } } } });
    await stage.until(Deployment, child, ({ metadata }) => metadata?.labels?.[PART] === part);
  }
  await stage.until(Shop, key, ({ status }) => status?.conditions?.[0]?.status === 'True');
  // Observed because it is watched.
  await admin.patch(ConfigMap, settings, {
    type: 'merge',
    body: { metadata: { labels: null }, data: { color: 'red' } },
  });
  await untilSettled(2);
  await admin.delete(Shop, key);
  await stage.untilGone(Shop, key);
}

export const shopScenario: Scenario = { operator: shops, open: () => ({ play }) };
