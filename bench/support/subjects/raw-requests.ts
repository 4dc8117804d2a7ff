// A bare loop of any requests: concurrent on one HTTP/2 session, bodies created beforehand, responses read but not parsed. On
// `load` with a file it reads the requests, and on `send` it sends them and reports the duration.
import { readFileSync } from 'node:fs';
import { inParallel } from '../api.ts';
import { connected, openSession } from '../connection.ts';
import { type RawRequest, sendRaw } from '../raw-request.ts';
import { orders, readConnection, report, subjectInput, timed } from '../subject.ts';

const input = subjectInput();
const inFlight = Number(input.options.inFlight);
const session = openSession(readConnection(input));
await connected(session);
report({ ready: true });
let requests: readonly RawRequest[] = [];
for await (const line of orders()) {
  const [order = '', file = ''] = line.split(' ');
  if (order === 'load') {
    requests = JSON.parse(readFileSync(file, 'utf8')) as readonly RawRequest[];
    report({ loaded: requests.length });
  } else report(await timed(() => inParallel(requests, inFlight, (request) => sendRaw(session, request))));
}
session.destroy();
