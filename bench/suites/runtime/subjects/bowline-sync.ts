// The runtime's informer, set up as an operator's cache is: client and cache with logs and metrics, everything else default.
import { ConfigMap } from '@bowline/kubernetes';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { openCache } from './open-cache.ts';

const input = subjectInput();
const start = performance.now();
await using opened = await openCache(input.kubeconfig);
const informer = opened.cache.informer(ConfigMap, { view: 'full' });
await informer.synced();
const syncMs = performance.now() - start;
report({ syncMs, objects: informer.list().length });
await untilReleased();
