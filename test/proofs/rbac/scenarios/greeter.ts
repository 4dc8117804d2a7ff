import { ConfigMap } from '@bowline/kubernetes';
import { greeter } from '../../../../docs/examples/ten-lines/greeter.ts';
import { Greeting } from '../../../../docs/examples/ten-lines/greeting.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

/** A greeting is written, follows its object, and does not touch a ConfigMap that was taken from it, twice. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'a' };
  const untilGreeted = async (text: string): Promise<void> => {
    await stage.until(ConfigMap, key, ({ data }) => data?.text === text);
    await stage.until(Greeting, key, ({ status }) => status?.conditions?.[0]?.status === 'True');
  };
  await admin.create(Greeting, Greeting.withDefaults({ metadata: key, spec: {} }));
  await untilGreeted('hello, world');
  await admin.patch(Greeting, key, { type: 'merge', body: { spec: { name: 'moon' } } });
  await untilGreeted('hello, moon');
  for (const times of [1, 2]) {
    await admin.patch(ConfigMap, key, { type: 'merge', body: { metadata: { ownerReferences: null } } });
    await untilEvent(stage, 'ForeignObject', times);
    await admin.delete(ConfigMap, key);
    await untilGreeted('hello, moon');
  }
}

export const greeterScenario: Scenario = { operator: greeter, open: () => ({ play }) };
