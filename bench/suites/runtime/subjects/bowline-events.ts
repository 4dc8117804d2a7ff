// The runtime's informer on a stream of updates, with one subscriber that counts them.
import { ConfigMap } from '@bowline/kubernetes';
import { loadKubeconfig } from '@bowline/runtime/client';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { openCache } from './open-cache.ts';

const input = subjectInput();
const lastVersion = String(input.options.lastVersion);
await using opened = openCache(await loadKubeconfig({ paths: [input.kubeconfig] }));
const informer = opened.cache.informer(ConfigMap, { view: 'full' });
let events = 0;
let start = 0;
let cpu = process.cpuUsage();
await new Promise<void>((resolve) => {
  informer.subscribe((event) => {
    if (event.initial) return;
    if (events === 0) {
      start = performance.now();
      cpu = process.cpuUsage();
    }
    events += 1;
    if (event.metadata.resourceVersion === lastVersion) resolve();
  });
});
const elapsedMs = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
report({ events, objects: informer.list().length, elapsedMs, cpuMs: (user + system) / 1000 });
await untilReleased();
