import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';

/** ServerCertificate is a certificate with its key, in PEM format. Never log it. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The link of a mounted Secret that the kubelet replaces on each update. */
const MOUNTED_DATA = '..data';

/**
 * readCertificateFolder reads tls.crt and tls.key, both of the same version of a mounted Secret. It rejects with
 * BOWLINE_CERTIFICATE_UNUSABLE if they cannot be used.
 */
export async function readCertificateFolder(folder: string): Promise<ServerCertificate> {
  const refuse = (problem: string, cause?: unknown): never => {
    const message = `cannot receive webhooks with the certificate in ${folder}: ${problem}`;
    throw new BowlineError('BOWLINE_CERTIFICATE_UNUSABLE', message, { cause, retryable: true });
  };
  const version = await realpath(join(folder, MOUNTED_DATA)).catch(() => folder);
  const read = (name: string): Promise<string> =>
    readFile(join(version, name), 'utf8').catch((cause: unknown) => refuse(`${name} is not readable`, cause));
  // Sequentially, so that the same missing file is always reported first.
  const cert = await read('tls.crt');
  const key = await read('tls.key');
  let isMatching = false;
  try {
    isMatching = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // Without the cause: it may quote the key.
    refuse('tls.crt and tls.key must be a certificate and a key in PEM');
  }
  return isMatching ? { cert, key } : refuse('tls.key is not the key of tls.crt');
}
