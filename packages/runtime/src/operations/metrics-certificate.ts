import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { mountedVersion } from './mounted-version.ts';

/** ServerKey is the certificate and key of a TLS server. */
export interface ServerKey {
  readonly cert: string;
  readonly key: string;
}

/** MetricsCertificateOptions configures where the certificate comes from. */
export interface MetricsCertificateOptions {
  /** A folder with tls.crt and tls.key. Defaults to a generated self-signed certificate. */
  readonly folder?: string | undefined;
  readonly wire: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const DAY_MS = 24 * 3_600_000;
const VALID_FOR_MS = 90 * DAY_MS;
/** A mounted Secret takes about a minute to change anyway. */
const FILE_POLL_INTERVAL_MS = 30_000;

/**
 * metricsCertificate returns the initial certificate and passes each later one to `use` until the signal is aborted. An
 * invalid certificate never replaces a valid one. Rejects if there is no initial certificate.
 */
export async function metricsCertificate(
  options: MetricsCertificateOptions,
  use: (renewed: ServerKey) => void,
): Promise<ServerKey> {
  const { folder, wire, log, signal } = options;
  const next = folder === undefined ? () => generateServerKey(wire.now()) : () => readFolder(folder);
  const first = await next();
  const intervalMs = folder === undefined ? (VALID_FOR_MS * 2) / 3 : FILE_POLL_INTERVAL_MS;
  let served = first;
  const poll = async (): Promise<void> => {
    try {
      const found = await next();
      if (found.cert === served.cert || signal.aborted) return;
      served = found;
      use(found);
      log.info('serving metrics with a new certificate');
    } catch (error) {
      log.warn('cannot use the new certificate for metrics, keeping the previous one', { error });
    }
  };
  let timer = wire.setTimer(intervalMs, function again() {
    void poll().then(() => {
      if (!signal.aborted) timer = wire.setTimer(intervalMs, again);
    });
  });
  signal.addEventListener('abort', () => timer.cancel(), { once: true });
  return first;
}

async function generateServerKey(now: number): Promise<ServerKey> {
  const authority = await createCertificateAuthority({ commonName: 'bowline-metrics', validForMs: VALID_FOR_MS, now });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'bowline-metrics',
    dnsNames: ['localhost', ...(isDnsName(hostname()) ? [hostname()] : [])],
    ipAddresses: ['127.0.0.1', '::1'],
    usages: ['server'],
    validForMs: VALID_FOR_MS,
    now,
  });
  return { cert: certificatePem, key: keyPem };
}

function isDnsName(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(name);
}

async function readFolder(folder: string): Promise<ServerKey> {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new BowlineError(
      'BOWLINE_METRICS_CERTIFICATE',
      `cannot serve metrics with the certificate in ${folder}: ${problem}`,
      { cause },
    );
  };
  const from = await mountedVersion(folder);
  const read = (name: string): Promise<string> =>
    readFile(join(from, name), 'utf8').catch((cause: unknown) => refuse(`${name} is not readable`, cause));
  // Sequentially, so that the same missing file is always reported first.
  const cert = await read('tls.crt');
  const key = await read('tls.key');
  let isMatching = false;
  try {
    isMatching = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    refuse('tls.crt and tls.key must be a certificate and a key in PEM', cause);
  }
  // During a renewal one of them may be the old one.
  return isMatching ? { cert, key } : refuse('tls.key is not the key of tls.crt');
}
