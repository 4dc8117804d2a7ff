// The bare watch of the discovery pods: parse, drop managedFields, store. On a line with a number it reports once it has received
// as many events since the line before.
import { type BareObject, bareKey, bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { openSession } from '../../../support/connection.ts';
import { orders, readConnection, report, subjectInput } from '../../../support/subject.ts';

const input = subjectInput();
const objects = new Map<string, BareObject>();
const session = openSession(readConnection(input));
let events = 0;
let wake = (): void => {};
await new Promise<void>((resolve, reject) => {
  session.on('error', reject);
  const path = `${watchListPath('/api/v1/pods')}&${input.options.selector}`;
  const stream = bareWatch(session, path, (event) => {
    if (endsSnapshot(event)) resolve();
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') objects.delete(bareKey(event.object));
    else objects.set(bareKey(event.object), event.object);
    events += 1;
    wake();
  });
  stream.on('error', reject);
});
events = 0;
report({ objects: objects.size });
for await (const line of orders()) {
  await new Promise<void>((resolve) => {
    wake = () => {
      if (events >= Number(line)) resolve();
    };
    wake();
  });
  report({ events });
  events = 0;
}
session.destroy();
