import { DaemonSet, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { Fleet } from '../../../../docs/examples/fleet/fleet.ts';
import { fleet } from '../../../../docs/examples/fleet/operator.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

/** Agents are started and updated with their role; a ServiceAccount that was taken from a fleet is not touched, twice. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'scan' };
  const untilRunning = async (image: string): Promise<void> => {
    await stage.until(ServiceAccount, key, ({ metadata }) => metadata?.ownerReferences !== undefined);
    await stage.until(RoleBinding, key, () => true);
    await stage.until(DaemonSet, key, ({ spec }) => spec?.template.spec?.containers[0]?.image === image);
    await stage.until(Fleet, key, (object) => findCondition(object, 'Ready')?.status === 'True');
  };
  await admin.create(Fleet, Fleet.withDefaults({ metadata: key, spec: { image: 'scan:1' } }));
  await untilRunning('scan:1');
  await admin.patch(Fleet, key, { type: 'merge', body: { spec: { image: 'scan:2' } } });
  await untilRunning('scan:2');
  for (const times of [1, 2]) {
    await admin.patch(ServiceAccount, key, { type: 'merge', body: { metadata: { ownerReferences: null } } });
    await untilEvent(stage, 'ForeignObject', times);
    await admin.delete(ServiceAccount, key);
    await untilRunning('scan:2');
  }
}

export const fleetScenario: Scenario = { operator: fleet, open: () => ({ play }) };
