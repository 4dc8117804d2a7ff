// The bare loop on a stream of updates: parse, drop managedFields, store.
import { type BareObject, bareKey, bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { openSession } from '../../../support/connection.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const lastVersion = String(input.options.lastVersion);
const objects = new Map<string, BareObject>();
const session = openSession(readConnection(input));
let synced = false;
let events = 0;
let start = 0;
let cpu = process.cpuUsage();
await new Promise<void>((resolve, reject) => {
  session.on('error', reject);
  const stream = bareWatch(session, watchListPath('/api/v1/configmaps'), (event) => {
    if (endsSnapshot(event)) synced = true;
    if (event.type === 'BOOKMARK') return;
    objects.set(bareKey(event.object), event.object);
    if (!synced) return;
    if (events === 0) {
      start = performance.now();
      cpu = process.cpuUsage();
    }
    events += 1;
    if (event.object.metadata.resourceVersion === lastVersion) resolve();
  });
  stream.on('error', reject);
});
const elapsedMs = performance.now() - start;
const { user, system } = process.cpuUsage(cpu);
report({ events, objects: objects.size, elapsedMs, cpuMs: (user + system) / 1000 });
await untilReleased();
session.destroy();
