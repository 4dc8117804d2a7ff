// A complete operator: a manager with leader election, metrics and probes, and one controller that reconciles every ConfigMap.
import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const objects = Number(input.options.objects);
let seen = 0;
let onReached: () => void = () => {};
const reached = new Promise<void>((resolve) => {
  onReached = resolve;
});

const operator = defineOperator({
  name: 'bench-operator',
  domain: 'bowline.dev',
  controllers: [
    controller(ConfigMap, { name: 'look' }).reconcile(() => {
      seen += 1;
      if (seen === objects) onReached();
    }),
  ],
});

const start = performance.now();
await using _running = runOperator(config, operator);
await reached;
report({ syncMs: performance.now() - start, objects: seen });
await untilReleased();
