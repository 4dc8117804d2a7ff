import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FakeRequest } from './fake-http.test-support.ts';

/** Signer identifies the key that signed a request, and the region and service it was signed for. */
export interface Signer {
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
}

/** SigningKey is the secret half of an access key, and the token of its session. */
export interface SigningKey {
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Signatures are accepted within this time around the server's time. */
const VALID_MS = 300_000;

/** SignatureProblem is the AWS error for a request that is not signed correctly. */
export class SignatureProblem extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * verifySignature verifies the AWS signature (version 4) of a request from the request alone: it is written from the
 * protocol, not with the code that signs.
 */
export function verifySignature(
  request: FakeRequest,
  keyOf: (accessKeyId: string) => SigningKey | undefined,
  nowMs: number,
): Signer {
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=(?<id>[A-Z0-9]+)\/(?<day>\d{8})\/(?<region>[a-z0-9-]+)\/(?<service>[a-z]+)\/aws4_request, SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    )?.groups;
  if (!authorization) throw new SignatureProblem('MissingAuthenticationTokenException', 'the request is not signed');
  const { id = '', day = '', region = '', service = '', names = '', signature = '' } = authorization;
  const key = keyOf(id);
  if (!key)
    throw new SignatureProblem('UnrecognizedClientException', 'The security token included in the request is invalid.');
  if (key.sessionToken !== undefined && request.headers['x-amz-security-token'] !== key.sessionToken) {
    throw new SignatureProblem('UnrecognizedClientException', 'The security token included in the request is invalid.');
  }
  const signed = names.split(';');
  for (const needed of ['host', 'x-amz-date', ...(key.sessionToken ? ['x-amz-security-token'] : [])]) {
    if (!signed.includes(needed)) throw new SignatureProblem('InvalidSignatureException', `${needed} is not signed`);
  }
  const time = String(request.headers['x-amz-date']);
  const expected = signatureOf(request, signed, key.secretAccessKey, { time, day, region, service });
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) {
    throw new SignatureProblem('InvalidSignatureException', 'The request signature we calculated does not match.');
  }
  const signedAt = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(nowMs - signedAt) <= VALID_MS)) {
    throw new SignatureProblem(
      'InvalidSignatureException',
      `Signature expired: ${time} is now earlier than the server's`,
    );
  }
  return { accessKeyId: id, region, service };
}

function signatureOf(
  { method, url, headers, body }: FakeRequest,
  signed: readonly string[],
  secretAccessKey: string,
  scope: { readonly time: string; readonly day: string; readonly region: string; readonly service: string },
): string {
  const values = signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`);
  const query = [...url.searchParams].map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`).sort();
  const request = [method, url.pathname, query.join('&'), values.join(''), signed.join(';'), sha256(body)].join('\n');
  const { time, day, region, service } = scope;
  const text = ['AWS4-HMAC-SHA256', time, `${day}/${region}/${service}/aws4_request`, sha256(request)].join('\n');
  const parts = [day, region, service, 'aws4_request'];
  const key = parts.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secretAccessKey}`));
  return hmac(key, text).toString('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
