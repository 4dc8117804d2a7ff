// Many watches of one collection, and one writer: the time from sending a write until the last watch has delivered it.
import type { ClientHttp2Session } from 'node:http2';
import { percentile } from '../../../statistics.ts';
import { openSession } from '../../../support/connection.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { smallConfigMap } from '../small-config-map.ts';

/** Fewer than a real server allows on one connection. */
const watchesPerSession = 50;
const newLine = 10;

const input = subjectInput();
const connection = readConnection(input);
const [watches, writes] = [Number(input.options.watches), Number(input.options.writes)];
const collection = `/api/v1/namespaces/${String(input.options.namespace)}/configmaps`;

let awaited = 0;
let delivered: () => void = () => {};

/** Counts lines without parsing them: what a client does with them is not measured. */
function watch(session: ClientHttp2Session, resourceVersion: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `${collection}?watch=true&resourceVersion=${resourceVersion}`;
    const stream = session.request({ ':path': path, accept: 'application/json' });
    stream.on('response', ({ ':status': status }) => {
      if (status === 200) resolve();
      else reject(new Error(`a watch returned ${status}`));
    });
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(newLine); at >= 0; at = chunk.indexOf(newLine, at + 1)) awaited -= 1;
      if (awaited === 0) delivered();
    });
    stream.on('error', reject);
  });
}

function send(session: ClientHttp2Session, method: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json' });
    let status = 0;
    let text = '';
    stream.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('error', reject);
    stream.on('end', () =>
      status < 300 ? resolve(text) : reject(new Error(`${method} ${path} returned ${status}: ${text}`)),
    );
    stream.end(body);
  });
}

const writer = openSession(connection);
const sessions = Array.from({ length: Math.ceil(watches / watchesPerSession) }, () => openSession(connection));
const name = 'delivered';
const made = await send(writer, 'POST', collection, JSON.stringify(smallConfigMap({ name }, '0')));
const { resourceVersion } = (JSON.parse(made) as { metadata: { resourceVersion: string } }).metadata;
await Promise.all(
  sessions.flatMap((session, index) =>
    Array.from({ length: Math.min(watchesPerSession, watches - index * watchesPerSession) }, () =>
      watch(session, resourceVersion),
    ),
  ),
);
const taken: number[] = [];
for (let revision = 1; revision <= writes; revision += 1) {
  awaited = watches;
  const all = new Promise<void>((resolve) => {
    delivered = resolve;
  });
  const start = performance.now();
  const written = send(writer, 'PUT', `${collection}/${name}`, JSON.stringify(smallConfigMap({ name }, `${revision}`)));
  await all;
  taken.push(performance.now() - start);
  await written;
}
// The first ones run uncompiled code on both sides.
const warm = taken.slice(Math.floor(taken.length / 4));
report({ p50: percentile(warm, 0.5), p99: percentile(warm, 0.99) });
await untilReleased();
for (const session of [writer, ...sessions]) session.destroy();
