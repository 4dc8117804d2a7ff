// The runtime's informer with all defaults.
import { ConfigMap } from '@bowline/kubernetes';
import { loadKubeconfig } from '@bowline/runtime/client';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { openCache } from './open-cache.ts';

const config = await loadKubeconfig({ paths: [subjectInput().kubeconfig] });
const start = performance.now();
await using opened = openCache(config);
const informer = opened.cache.informer(ConfigMap, { view: 'full' });
await informer.synced();
const syncMs = performance.now() - start;
report({ syncMs, objects: informer.list().length });
await untilReleased();
