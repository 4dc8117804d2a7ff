// The operator in a separate process, set up as by `bowline run`.
import { configMapSync } from '@bowline/configmap-sync';
import { loadKubeconfig } from '@bowline/runtime/client';
import { preferSmallHeap } from '@bowline/runtime/manager';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

preferSmallHeap();
const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
await using running = runOperator(config, configMapSync, {
  // Only the harness creates ConfigMapSyncs here, and no webhook configuration is installed.
  config: { 'configmap-sync': { trustAllAuthors: true, maxWritesInFlight: Number(input.options.inFlight) } },
  webhooksFor: () => ({ address: '127.0.0.1:0' }),
});
await running.working();
report({ ready: true });
await untilReleased();
