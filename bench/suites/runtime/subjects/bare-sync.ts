// The bare loop: a WatchList stream into a Map, managedFields dropped, nothing else.
import { type BareObject, bareKey, bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { openSession } from '../../../support/connection.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

const connection = readConnection(subjectInput());
const objects = new Map<string, BareObject>();
const start = performance.now();
const session = openSession(connection);
await new Promise<void>((resolve, reject) => {
  session.on('error', reject);
  const stream = bareWatch(session, watchListPath('/api/v1/configmaps'), (event) => {
    if (endsSnapshot(event)) resolve();
    else if (event.type !== 'BOOKMARK') objects.set(bareKey(event.object), event.object);
  });
  stream.on('error', reject);
});
report({ syncMs: performance.now() - start, objects: objects.size });
await untilReleased();
session.destroy();
