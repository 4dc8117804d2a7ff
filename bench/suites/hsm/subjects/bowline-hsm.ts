// The operator in a separate process, set up as by `bowline run`. It reports when it works; on `settle` it reports once no work is
// left.
import { hsmSecrets } from '@bowline/hsm-secrets';
import { loadKubeconfig } from '@bowline/runtime/client';
import { preferSmallHeap } from '@bowline/runtime/manager';
import { untilQuiet } from '../../../support/operator-activity.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { orders, report, subjectInput } from '../../../support/subject.ts';

preferSmallHeap();
const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const section: unknown = JSON.parse(String(input.options.config));
await using running = runOperator(config, hsmSecrets, { config: { 'hsm-secrets': section } });
await running.working();
report({ ready: true });
for await (const _order of orders()) {
  await untilQuiet(running);
  report({ settled: true });
}
