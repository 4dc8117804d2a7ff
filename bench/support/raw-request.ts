import type { ClientHttp2Session } from 'node:http2';

/** RawRequest is a request of a bare loop, prepared beforehand. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

/** sendRaw sends one request and reads the response without parsing it. */
export function sendRaw(session: ClientHttp2Session, { method, path, contentType, body }: RawRequest): Promise<void> {
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
