import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** fileDigest returns the digest of a file, by default its SHA-256 in hexadecimal digits. */
export async function fileDigest(
  path: string,
  {
    algorithm = 'sha256',
    encoding = 'hex',
  }: { readonly algorithm?: string; readonly encoding?: 'hex' | 'base64' } = {},
): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest(encoding);
}
