// The raw limit of writing: concurrent requests on one bare HTTP/2 session, bodies created beforehand, responses read but not
// parsed. On `create` or `update` with a name and a revision, it writes every object once and reports the duration.
import { readFileSync } from 'node:fs';
import { inParallel } from '../api.ts';
import { connected, openSession } from '../connection.ts';
import { type RawRequest, sendRaw } from '../raw-request.ts';
import type { RawWrites } from '../raw-writes.ts';
import { orders, readConnection, report, subjectInput, timed } from '../subject.ts';

const input = subjectInput();
const { targets, template, inFlight, style } = JSON.parse(
  readFileSync(String(input.options.file), 'utf8'),
) as RawWrites;

function requestsFor(order: string, called: string, revision: string): readonly RawRequest[] {
  return targets.map(({ namespace, suffix = '' }) => {
    const name = `${called}${suffix}`;
    const body = JSON.stringify({
      ...template,
      metadata: { ...template.metadata, namespace, name },
      data: { ...template.data, revision },
    });
    const collection = `/api/v1/namespaces/${namespace}/${template.kind.toLowerCase()}s`;
    const object = `${collection}/${name}?fieldManager=bowline-bench`;
    if (style === 'apply') {
      return { method: 'PATCH', path: `${object}&force=true`, contentType: 'application/apply-patch+yaml', body };
    }
    return order === 'create'
      ? { method: 'POST', path: `${collection}?fieldManager=bowline-bench`, contentType: 'application/json', body }
      : { method: 'PUT', path: object, contentType: 'application/json', body };
  });
}

const session = openSession(readConnection(input));
await connected(session);
report({ ready: true });
for await (const line of orders()) {
  const [order = '', name = '', revision = ''] = line.split(' ');
  const requests = requestsFor(order, name, revision);
  report(await timed(() => inParallel(requests, inFlight, (request) => sendRaw(session, request))));
}
session.destroy();
