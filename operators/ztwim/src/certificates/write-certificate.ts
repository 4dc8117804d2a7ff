import { type KubernetesObject, type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { CertificateAuthority } from '@bowline/runtime/certificates';
import type { LiveClient } from '@bowline/runtime/controller';
import type { ApplyOptions, WriteResult } from '@bowline/runtime/writing';
import { ANNOTATIONS } from '../api/names.ts';
import type { Config } from '../config.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { isForeign } from '../operand/is-foreign.ts';
import { isRefusal } from '../operand/is-refusal.ts';
import { contentHash, hashOf, type SecretView } from '../operand/referenced-secrets.ts';
import { refusedContent } from '../operand/refused-content.ts';
import { currentRecord, writeRecord } from './issued-record.ts';

/** How soon a certificate is checked again at the earliest. */
const MIN_CHECK_MS = 60_000;

/** CertificateRun is the part of a run's context that writes a certificate. */
export interface CertificateRun {
  /** The operand. */
  readonly object: KubernetesObject;
  readonly live: LiveClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly deps: { readonly authority: CertificateAuthority; readonly config: Config };
  get(kind: typeof Secret, key: ObjectKey): SecretView | undefined;
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
  /** Set if the Secret belongs to someone else, or the API server refused it. */
  readonly problem?: OperandCondition | undefined;
  /** In how many milliseconds it has to be checked again. Undefined while there is no CA, whose creation causes another run. */
  readonly checkAfterMs?: number | undefined;
}

/**
 * writeCertificate keeps the certificate of a server current where the platform does not issue one. The Secret is read only if
 * something may have to change: a record in an annotation tells from the cached hash whether it is as it was written.
 */
export async function writeCertificate(
  { object, live, get, apply, clock, deps }: CertificateRun,
  { key, labels, names, condition }: CertificateRequest,
): Promise<WrittenCertificate> {
  const { current } = deps.authority;
  if (!current) return {};
  const request = hashOf([names, current.bundlePem]);
  const checkAfter = (checkAt: number): WrittenCertificate => ({
    checkAfterMs: Math.max(checkAt - clock.now(), MIN_CHECK_MS),
  });
  const known = currentRecord(get(Secret, key), { request, labels, owner: object.metadata?.uid, now: clock.now() });
  if (known) return checkAfter(known.checkAt);
  const existing = await live.find(Secret, key);
  const isFrozen = deps.config.createOnly || existing?.metadata?.annotations?.[ANNOTATIONS.createOnly] === 'true';
  if (existing && isFrozen) return {};
  const { data, checkAt } = await deps.authority.issue(existing, { names, usages: ['server'] });
  const annotations = { [ANNOTATIONS.issued]: writeRecord({ request, content: contentHash(data), checkAt }) };
  const desired = { metadata: { ...key, labels, annotations }, type: 'kubernetes.io/tls', data };
  try {
    await apply(Secret, desired, { labels: MANAGED_BY });
  } catch (error) {
    if (!isForeign(error) && !isRefusal(error)) throw error;
    const reason = isForeign(error) ? 'ResourceConflict' : 'Failed';
    const message = refusedContent(Secret, key, error) ?? error.message;
    return { problem: { type: condition, status: false, reason, message }, checkAfterMs: MIN_CHECK_MS };
  }
  return checkAfter(checkAt);
}

/** soonest returns the smaller of two delays, as far as they are given. */
export function soonest(...delays: readonly (number | undefined)[]): number | undefined {
  const given = delays.filter((delay) => delay !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
