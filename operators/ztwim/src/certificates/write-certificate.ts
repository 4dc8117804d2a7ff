import { type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { CertificateAuthority } from '@bowline/runtime/certificates';
import type { LiveClient } from '@bowline/runtime/controller';
import type { ApplyOptions, WriteResult } from '@bowline/runtime/writing';
import { ANNOTATIONS } from '../api/names.ts';
import type { Config } from '../config.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { isForeign } from '../operand/is-foreign.ts';

/** How soon a certificate is checked again at the earliest. */
const MIN_CHECK_MS = 60_000;

/** CertificateRun is the part of a run's context that writes a certificate. */
export interface CertificateRun {
  readonly live: LiveClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly deps: { readonly authority: CertificateAuthority; readonly config: Config };
  apply(kind: typeof Secret, desired: Secret, options?: ApplyOptions): Promise<WriteResult<Secret>>;
}

/** CertificateRequest describes the certificate of a server. */
export interface CertificateRequest {
  /** The Secret that contains it. */
  readonly key: ObjectKey;
  readonly labels: Readonly<Record<string, string>>;
  /** The host names of the server. */
  readonly names: readonly string[];
  /** The type of the condition about the workload that uses it. */
  readonly condition: string;
}

/** WrittenCertificate is the result of writing a certificate. */
export interface WrittenCertificate {
  /** Set if the Secret belongs to someone else. */
  readonly problem?: OperandCondition | undefined;
  /** In how many milliseconds it has to be checked again. Undefined while there is no CA, whose creation causes another run. */
  readonly checkAfterMs?: number | undefined;
}

/** writeCertificate keeps the certificate of a server current where the platform does not issue one. */
export async function writeCertificate(
  { live, apply, clock, deps }: CertificateRun,
  { key, labels, names, condition }: CertificateRequest,
): Promise<WrittenCertificate> {
  if (!deps.authority.current) return {};
  const existing = await live.find(Secret, key);
  const isFrozen = deps.config.createOnly || existing?.metadata?.annotations?.[ANNOTATIONS.createOnly] === 'true';
  if (existing && isFrozen) return {};
  const { data, checkAt } = await deps.authority.issue(existing, { names, usages: ['server'] });
  try {
    await apply(Secret, { metadata: { ...key, labels }, type: 'kubernetes.io/tls', data }, { labels: MANAGED_BY });
  } catch (error) {
    if (!isForeign(error)) throw error;
    const problem = { type: condition, status: false, reason: 'ResourceConflict', message: error.message };
    return { problem, checkAfterMs: MIN_CHECK_MS };
  }
  return { checkAfterMs: Math.max(checkAt - clock.now(), MIN_CHECK_MS) };
}

/** soonest returns the smaller of two delays, as far as they are given. */
export function soonest(...delays: readonly (number | undefined)[]): number | undefined {
  const given = delays.filter((delay) => delay !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
