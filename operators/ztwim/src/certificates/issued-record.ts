import { formatTime, parseTime } from '@bowline/machinery';
import { ANNOTATIONS } from '../api/names.ts';
import type { SecretView } from '../operand/referenced-secrets.ts';

/** IssuedRecord is what the operator records on the Secret of a certificate that it has issued. */
export interface IssuedRecord {
  /** The hash of what the certificate was issued for: its names, and the CAs to trust. */
  readonly request: string;
  /** The hash of the content of the Secret. */
  readonly content: string;
  /** When to check the certificate again, in milliseconds since the epoch. */
  readonly checkAt: number;
}

/** Expected is what a Secret must match to be left as it is. */
export interface Expected {
  readonly request: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The uid of the operand. */
  readonly owner: string | undefined;
  readonly now: number;
}

/** writeRecord returns the annotation of a record. */
export function writeRecord({ request, content, checkAt }: IssuedRecord): string {
  return JSON.stringify({ request, content, checkAt: formatTime(checkAt) });
}

/** currentRecord returns the record of a Secret that is as it was written and need not be checked yet. */
export function currentRecord(secret: SecretView | undefined, expected: Expected): IssuedRecord | undefined {
  const record = readRecord(secret?.metadata.annotations?.[ANNOTATIONS.issued]);
  if (!secret || !record) return undefined;
  const { labels = {}, ownerReferences = [] } = secret.metadata;
  const isUnchanged =
    record.content === secret.hash &&
    Object.entries(expected.labels).every(([name, value]) => labels[name] === value) &&
    ownerReferences.some(({ uid }) => uid === expected.owner);
  return isUnchanged && record.request === expected.request && expected.now < record.checkAt ? record : undefined;
}

/** An annotation that cannot be read is replaced: a user may have edited it. */
function readRecord(text: string | undefined): IssuedRecord | undefined {
  try {
    const { request, content, checkAt } = JSON.parse(text ?? '') as Readonly<Record<keyof IssuedRecord, unknown>>;
    const time = parseTime(String(checkAt));
    return typeof request === 'string' && typeof content === 'string' && !Number.isNaN(time)
      ? { request, content, checkAt: time }
      : undefined;
  } catch {
    return undefined;
  }
}
