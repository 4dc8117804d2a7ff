// Complete lists, one after the other, read to their end without parsing.
import type { ClientHttp2Session } from 'node:http2';
import { percentile } from '../../../statistics.ts';
import { openSession } from '../../../support/connection.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const lists = Number(input.options.lists);

function list(session: ClientHttp2Session, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, accept: 'application/json' });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

const session = openSession(readConnection(input));
const path = `/api/v1/namespaces/${String(input.options.namespace)}/configmaps`;
const { items } = JSON.parse((await list(session, path)).toString()) as { items: readonly unknown[] };
const taken: number[] = [];
let bytes = 0;
for (let count = 0; count < lists; count += 1) {
  const start = performance.now();
  bytes = (await list(session, path)).byteLength;
  taken.push(performance.now() - start);
}
report({ objects: items.length, kilobytes: bytes / 1_000, p50: percentile(taken, 0.5) });
await untilReleased();
session.destroy();
