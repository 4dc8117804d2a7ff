import { ConfigMap } from '@bowline/kubernetes';
import { COPY_OF, COPY_TO, copy } from '../../../../docs/examples/copy/copy.ts';
import type { Scenario, Stage } from '../scenario.ts';

/** A copy is created, follows its source, and is deleted with it. */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const target = await stage.createNamespace('copy-target');
  const source = (color: string): ConfigMap => ({
    metadata: { namespace, name: 'settings', labels: { [COPY_TO]: target } },
    data: { color },
  });
  const copied = { namespace: target, name: 'settings' };
  await admin.create(ConfigMap, source('red'));
  await stage.until(ConfigMap, copied, ({ metadata }) => metadata?.labels?.[COPY_OF] === namespace);
  await admin.update(ConfigMap, source('blue'));
  await stage.until(ConfigMap, copied, ({ data }) => data?.color === 'blue');
  await admin.delete(ConfigMap, { namespace, name: 'settings' });
  await stage.untilGone(ConfigMap, copied);
}

export const copyScenario: Scenario = { operator: copy, open: () => ({ play }) };
