import { createHash, createHmac } from 'node:crypto';

/** S3Credentials are the two parts of an access key. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** UnsignedRequest is a request to S3 before it is signed. */
export interface UnsignedRequest {
  readonly method: string;
  /** Its path is encoded as S3 expects it. */
  readonly url: URL;
  /** The SHA-256 of the body, in hex. */
  readonly bodyHash: string;
  readonly region: string;
  /** In milliseconds since the epoch. */
  readonly nowMs: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 's3';

/** EMPTY_HASH is the SHA-256 of a request without a body. */
export const EMPTY_HASH: string = createHash('sha256').digest('hex');

/** signRequest returns the headers that authenticate a request to S3 (AWS Signature Version 4). The secret is not in them. */
export function signRequest(
  { method, url, bodyHash, region, nowMs }: UnsignedRequest,
  { accessKeyId, secretAccessKey }: S3Credentials,
): Readonly<Record<string, string>> {
  const time = `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const date = time.slice(0, 8);
  const signed = { host: url.host, 'x-amz-content-sha256': bodyHash, 'x-amz-date': time };
  const names = Object.keys(signed).join(';');
  const headers = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const canonical = [method, url.pathname, url.searchParams.toString(), headers.join(''), names, bodyHash].join('\n');
  const scope = `${date}/${region}/${SERVICE}/aws4_request`;
  const text = [ALGORITHM, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [date, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return {
    ...signed,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** encodeKey returns the path of an object: every byte but unreserved characters and `/` is encoded. */
export function encodeKey(key: string): string {
  return key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');
}
