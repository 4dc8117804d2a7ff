import { createHash } from 'node:crypto';
import { startLoopbackServer } from '../testing/loopback-server.test-support.ts';

/** S3Server is a bucket in memory, with the parts of the API of S3 that snapshots use. */
export interface S3Server extends AsyncDisposable {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** The status of all further responses. Undefined: the usual ones. */
  fault: number | undefined;
}

/** startS3Server serves one bucket to requests with the access key. Their bodies must have the hash that was signed. */
export async function startS3Server(bucket: string, accessKeyId: string): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const server = await startLoopbackServer((request, response, body) => {
    const path = decodeURIComponent(request.url ?? '');
    const isSigned = request.headers.authorization?.includes(`Credential=${accessKeyId}/`);
    const hash = createHash('sha256').update(body).digest('hex');
    const isBucket = path.startsWith(`/${bucket}/`);
    const found = objects.get(path);
    if (served.fault !== undefined) response.writeHead(served.fault).end('<Error/>');
    else if (!isSigned || request.headers['x-amz-content-sha256'] !== hash) response.writeHead(403).end('<Error/>');
    else if (!isBucket) response.writeHead(404).end('<Error/>');
    else if (request.method === 'PUT') {
      objects.set(path, body);
      response.writeHead(200).end();
    } else if (request.method === 'DELETE') {
      objects.delete(path);
      response.writeHead(204).end();
    } else if (found === undefined) response.writeHead(404).end('<Error/>');
    else response.writeHead(200).end(found);
  });
  const served: S3Server = {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    fault: undefined,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return served;
}
