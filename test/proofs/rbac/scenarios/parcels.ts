import { randomBytes } from 'node:crypto';
import { ConfigMap, Namespace, NetworkPolicy, Secret, ServiceAccount } from '@bowline/kubernetes';
import { LimitRange } from '@bowline/kubernetes/core-v1';
import { DEPOT, LIMITS, Parcel, POSTAGE, parcels, ROUTE } from '../parcels.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

/** A parcel is created, changes in every part, observes a change of its namespace, and is deleted. */
async function play(stage: Stage, depot: string): Promise<void> {
  const { admin, namespace, managerNamespace } = stage;
  const key = { namespace, name: 'a' };
  const change = (spec: object) => admin.patch(Parcel, key, { type: 'merge', body: { spec } });
  await admin.create(Secret, { metadata: { namespace: managerNamespace, name: POSTAGE } });
  await admin.create(LimitRange, { metadata: { namespace, name: 'limits' }, spec: { limits: [] } });
  const spec = { address: 'here', courier: 'courier' };
  const made = await admin.create(Parcel, Parcel.withDefaults({ metadata: key, spec }));
  if (made.metadata?.annotations?.[LIMITS] === undefined) throw new Error('the webhook did not mutate the Parcel');
  await stage.until(ConfigMap, key, ({ data }) => data?.address === 'here');
  await stage.until(ServiceAccount, { name: 'courier' }, () => true);
  await untilEvent(stage, 'Addressed', 1);

  await change({ address: 'there' });
  await stage.until(ConfigMap, key, ({ data }) => data?.address === 'there');
  const place = { namespace: depot, name: DEPOT };
  await stage.until(NetworkPolicy, place, ({ spec }) => spec?.podSelector?.matchLabels?.address === 'there');
  await change({ address: 'here' });
  await untilEvent(stage, 'Addressed', 2);

  await admin.patch(
    Namespace,
    { name: namespace },
    { type: 'merge', body: { metadata: { annotations: { [ROUTE]: 'sea' } } } },
  );
  await stage.until(Parcel, key, ({ status }) => status?.route === 'sea');

  await change({ wrapped: false, courier: '' });
  await stage.untilGone(ConfigMap, key);
  await stage.untilGone(NetworkPolicy, place);
  await stage.untilGone(ServiceAccount, { name: 'courier' });
  await admin.delete(Parcel, key);
  await stage.untilGone(Parcel, key);
}

export const parcelsScenario: Scenario = {
  operator: parcels,
  open() {
    const depot = `depot-${randomBytes(4).toString('hex')}`;
    return { config: { depot }, play: (stage) => play(stage, depot) };
  },
};
