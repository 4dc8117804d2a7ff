// The minimum a Node program can do to respond to an admission review: read the body, send a constant.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { report, subjectInput, untilReleased } from '../subject.ts';

const { options } = subjectInput();
const answer = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: '00000000-0000-0000-0000-000000000000', allowed: true },
});
const folder = String(options.folder);
const server = createServer(
  { cert: readFileSync(`${folder}/tls.crt`), key: readFileSync(`${folder}/tls.key`), keepAliveTimeout: 60_000 },
  (request, response) => {
    request.on('data', () => {});
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
      response.end(answer);
    });
  },
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  report({ port: address !== null && typeof address === 'object' ? address.port : 0, path: '/' });
});
await untilReleased();
process.exit(0);
