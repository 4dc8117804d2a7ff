// The raw limit of writing: concurrent requests on one bare HTTP/2 session, bodies created beforehand, responses read but not
// parsed. On `create` or `update` with a name and a revision, it writes every object once and reports the duration.
import { readFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { inParallel } from '../api.ts';
import { openSession } from '../connection.ts';
import type { RawWrites } from '../raw-writes.ts';
import { orders, readConnection, report, subjectInput } from '../subject.ts';

const input = subjectInput();
const { targets, template, inFlight, style } = JSON.parse(
  readFileSync(String(input.options.file), 'utf8'),
) as RawWrites;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

function requestsFor(order: string, called: string, revision: string): readonly Request[] {
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

function send(session: ClientHttp2Session, { method, path, contentType, body }: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': method,
      ':path': path,
      accept: 'application/json',
      'content-type': contentType,
    });
    let status = 0;
    stream.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.on('data', () => {});
    stream.on('error', reject);
    stream.on('end', () => {
      if (status < 300) resolve();
      else reject(new Error(`${method} ${path} returned ${status}`));
    });
    stream.end(body);
  });
}

const session = openSession(readConnection(input));
await new Promise<void>((resolve, reject) => {
  session.once('connect', () => resolve());
  session.on('error', reject);
});
report({ ready: true });
for await (const line of orders()) {
  const [order = '', name = '', revision = ''] = line.split(' ');
  const requests = requestsFor(order, name, revision);
  const start = performance.now();
  const cpu = process.cpuUsage();
  await inParallel(requests, inFlight, (request) => send(session, request));
  const { user, system } = process.cpuUsage(cpu);
  report({ ms: performance.now() - start, cpuMs: (user + system) / 1_000 });
}
session.destroy();
