import { createSecureContext, type SecureContext } from 'node:tls';
import { BoundedMap } from '@bowline/machinery';
import type { ClientCertificate } from './connection-config.ts';

/** A process has few identities; a rotated certificate replaces the least recently used one. */
const MAX_CONTEXTS = 16;

const contexts = new BoundedMap<string, SecureContext>({ maxEntries: MAX_CONTEXTS });

/**
 * secureContext returns the TLS context for a CA and a client certificate. The connections of a client share one, because
 * parsing the certificates takes longer (about 1 ms) than the rest of opening a connection.
 */
export function secureContext(ca: string | undefined, certificate: ClientCertificate | undefined): SecureContext {
  const key = JSON.stringify([ca, certificate?.certificatePem, certificate?.keyPem]);
  const known = contexts.get(key);
  if (known) return known;
  const created = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }),
  });
  contexts.set(key, created);
  return created;
}
