import { describe, expect, it } from 'vitest';
import { EMPTY_HASH, encodeKey, signRequest } from './sign-request.ts';

// The examples of AWS for the signature of requests to S3.
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const AT = { region: 'us-east-1', nowMs: Date.UTC(2013, 4, 24), bodyHash: EMPTY_HASH, method: 'GET' };

describe('signRequest', () => {
  it.each([
    [
      'https://examplebucket.s3.amazonaws.com/?lifecycle=',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('signs %s as AWS does', (url, signature) => {
    const headers = signRequest({ ...AT, url: new URL(url) }, CREDENTIALS);
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    );
    expect(JSON.stringify(headers)).not.toContain(CREDENTIALS.secretAccessKey);
  });
});

describe('encodeKey', () => {
  it.each([
    ['bucket/a b/c', 'bucket/a%20b/c'],
    ["b/(1)!*'é", 'b/%281%29%21%2A%27%C3%A9'],
    ['b/a-._~Z', 'b/a-._~Z'],
  ])('encodes %s', (key, path) => {
    expect(encodeKey(key)).toBe(path);
    // The path that is sent is the path that is signed.
    expect(new URL(`https://host/${path}`).pathname).toBe(`/${path}`);
  });
});
