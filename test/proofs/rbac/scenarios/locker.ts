import { Secret } from '@bowline/kubernetes';
import { LABEL } from '../../../../docs/examples/commands/commands.ts';
import { locker, OPEN } from '../../../../docs/examples/commands/operator.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

/** A locker that is opened twice is reported twice. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'papers' };
  const open = (value: string | null) =>
    admin.patch(Secret, key, { type: 'merge', body: { metadata: { annotations: { [OPEN]: value } } } });
  await admin.create(Secret, { metadata: { ...key, labels: { [LABEL]: 'true' }, annotations: { [OPEN]: '' } } });
  await untilEvent(stage, 'Open', 1);
  await open(null);
  await stage.idle();
  await open('');
  await untilEvent(stage, 'Open', 2);
}

export const lockerScenario: Scenario = { operator: locker, open: () => ({ play }) };
