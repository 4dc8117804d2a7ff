import { type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { CertificateAuthority } from '@bowline/runtime/certificates';
import type { LiveClient } from '@bowline/runtime/controller';
import type { ApplyOptions, WriteResult } from '@bowline/runtime/writing';
import { MANAGED_BY } from '../objects/labels.ts';

/** How soon a certificate is checked again at the earliest. */
const MIN_CHECK_MS = 60_000;

/** CertificateRun is the part of a run's context that writes a certificate. */
export interface CertificateRun {
  readonly live: LiveClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly deps: { readonly authority: CertificateAuthority };
  apply(kind: typeof Secret, desired: Secret, options?: ApplyOptions): Promise<WriteResult<Secret>>;
}

/**
 * writeCertificate keeps the certificate of a server current where the platform does not issue one. It returns in how many
 * milliseconds it has to be checked again; undefined while there is no CA, whose creation causes another run.
 */
export async function writeCertificate(
  { live, apply, clock, deps }: CertificateRun,
  key: ObjectKey,
  labels: Readonly<Record<string, string>>,
  names: readonly string[],
): Promise<number | undefined> {
  if (!deps.authority.current) return undefined;
  const existing = await live.find(Secret, key);
  const { data, checkAt } = await deps.authority.issue(existing, { names, usages: ['server'] });
  await apply(Secret, { metadata: { ...key, labels }, type: 'kubernetes.io/tls', data }, { labels: MANAGED_BY });
  return Math.max(checkAt - clock.now(), MIN_CHECK_MS);
}
