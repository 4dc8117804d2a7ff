// A controller and, in the same process but on its own connection, a raw watch of the same objects. Each change contains the time
// at which it was sent: when did the raw watch have its bytes, and when did its reconcile start?
import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { percentile } from '../../../statistics.ts';
import { bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { openSession } from '../../../support/connection.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const namespace = String(input.options.namespace);
const objects = Number(input.options.objects);
const updates = Number(input.options.updates);

/** The delay after which each change, by version, arrived on the raw watch, and its reconcile started. */
const arrivals = new Map<string, number>();
const begins = new Map<string, number>();
let wake: () => void = () => {};

const session = openSession(readConnection(input));
let snapshotEnded = false;
bareWatch(session, watchListPath(`/api/v1/namespaces/${namespace}/configmaps`), (event, arrivedMs) => {
  if (endsSnapshot(event)) snapshotEnded = true;
  else if (snapshotEnded && event.type === 'MODIFIED') {
    arrivals.set(event.object.metadata.resourceVersion, sinceSent(event.object.data, arrivedMs));
  }
  wake();
});

function sinceSent(data: Readonly<Record<string, string>> | undefined, nowMs: number): number {
  return performance.timeOrigin + nowMs - Number(data?.sentMs);
}

const operator = defineOperator({
  name: 'bench-latency',
  domain: 'bowline.dev',
  controllers: [
    controller(ConfigMap, { name: 'latency', namespaces: [namespace] }).reconcile(({ object }) => {
      begins.set(object.metadata?.resourceVersion ?? '', sinceSent(object.data, performance.now()));
      wake();
    }),
  ],
});
await using _running = runOperator(config, operator);

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
};
// The namespace's own ConfigMap with the cluster's root certificate is an additional one.
await until(() => snapshotEnded && begins.size >= objects);
await new Promise((resolve) => setTimeout(resolve, 500));
report({ ready: true });

await until(() => arrivals.size >= updates);
await new Promise((resolve) => setTimeout(resolve, 500));
const seen = [...arrivals.keys()].filter((version) => begins.has(version));
const raw = seen.map((version) => arrivals.get(version) ?? Number.NaN);
const reconcile = seen.map((version) => begins.get(version) ?? Number.NaN);
report({
  samples: seen.length,
  rawP50Ms: percentile(raw, 0.5),
  rawP99Ms: percentile(raw, 0.99),
  reconcileP50Ms: percentile(reconcile, 0.5),
  reconcileP99Ms: percentile(reconcile, 0.99),
});
await untilReleased();
session.destroy();
