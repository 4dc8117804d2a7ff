// Simulates an API server with many updates: a recorded snapshot, its bookmark, and then updates of the same objects as fast as
// the reader consumes them. The real server writes about 1,000 per second, which would hide the reader.
import { readFileSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const { options } = subjectInput();
const recorded = readFileSync(String(options.recordedFile), 'utf8').trimEnd().split('\n');
const count = Number(options.events);
const firstVersion = Number(options.firstVersion);

const bookmark = {
  type: 'BOOKMARK',
  object: {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      resourceVersion: String(firstVersion - 1),
      creationTimestamp: null,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    },
  },
};
const snapshot = Buffer.from(`${recorded.join('\n')}\n${JSON.stringify(bookmark)}\n`);
const updates = Buffer.from(
  Array.from({ length: count }, (_, index) =>
    (recorded[index % recorded.length] ?? '')
      .replace('"type":"ADDED"', '"type":"MODIFIED"')
      .replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${firstVersion + index}"`)
      .concat('\n'),
  ).join(''),
);

async function send(stream: ServerHttp2Stream, data: Buffer): Promise<void> {
  const size = 64 * 1024;
  for (let at = 0; at < data.length && !stream.destroyed; at += size) {
    if (stream.write(data.subarray(at, at + size))) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        stream.off('drain', go);
        stream.off('close', go);
        resolve();
      };
      stream.on('drain', go);
      stream.on('close', go);
    });
  }
}

async function serve(stream: ServerHttp2Stream, path: string): Promise<void> {
  const url = new URL(path, 'https://replay.test');
  if (url.pathname !== '/api/v1/configmaps' || url.searchParams.get('sendInitialEvents') !== 'true') {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    stream.respond({ ':status': 404, 'content-type': 'application/json' });
    stream.end(JSON.stringify(status));
    return;
  }
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  await send(stream, snapshot);
  // The reader processes the snapshot first, so that only updates are timed.
  await pause(500);
  await send(stream, updates);
}

const server = createSecureServer({
  cert: readFileSync(String(options.certFile)),
  key: readFileSync(String(options.keyFile)),
});
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  serve(stream, String(headers[':path'])).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  report({ port: address !== null && typeof address === 'object' ? address.port : 0, bytes: updates.length });
});
await untilReleased();
process.exit(0);
