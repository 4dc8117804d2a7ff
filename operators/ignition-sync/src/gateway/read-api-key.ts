import { open } from 'node:fs/promises';
import { GatewayError } from './gateway-error.ts';

/** Far more than a key has. */
const MAX_KEY_BYTES = 4096;
/** Visible ASCII on both sides of the first colon, so that the key can be sent in a header. */
const API_KEY = /^[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+$/;

/**
 * readApiKey reads the API key of the gateway. It is called for every use, because a Secret that changes is updated in
 * its volume. Errors name the file, never its content.
 */
export async function readApiKey(path: string): Promise<string> {
  const key = (await readStart(path)).trim();
  if (!API_KEY.test(key))
    throw new GatewayError(
      'apiKey',
      `cannot use the API key in ${path}: it must be name:secret, on one line of at most ${MAX_KEY_BYTES} bytes`,
    );
  return key;
}

async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const buffer = Buffer.alloc(MAX_KEY_BYTES + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return bytesRead > MAX_KEY_BYTES ? '' : buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new GatewayError(
      'apiKey',
      `cannot read the API key in ${path} (${code}); mount the Secret of gateway.apiKeySecretRef there`,
    );
  }
}
