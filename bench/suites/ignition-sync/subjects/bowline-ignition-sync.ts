// The operator in a separate process, set up as by `bowline run`. On each line it reports once no work is left.
import { ignitionSyncWith } from '@bowline/ignition-sync';
import { loadKubeconfig } from '@bowline/runtime/client';
import { preferSmallHeap } from '@bowline/runtime/manager';
import { untilQuiet } from '../../../support/operator-activity.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { orders, report, subjectInput } from '../../../support/subject.ts';

preferSmallHeap();
const input = subjectInput();
const section: unknown = JSON.parse(String(input.options.config));
const operator = ignitionSyncWith({ env: { WEBHOOK_HMAC_SECRET: String(input.options.hmac) } });
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
await using running = runOperator(config, operator, {
  config: { [operator.name]: section },
  webhooksFor: () => ({ address: '127.0.0.1:0', reachedAt: 'loopback' }),
});
await running.working();
report({ ready: true });
for await (const _line of orders()) {
  await untilQuiet(running);
  report({ quiet: true });
}
