import type { AuditEvent } from '@bowline/control-plane';
import type { JournalEntry } from './journal.ts';

/** Evidence is the recorded data of a leader change. */
export interface Evidence {
  /** The API server's audit log since before the fault. */
  readonly audit: readonly AuditEvent[];
  /** The previous leader's own journal. */
  readonly journal: readonly JournalEntry[];
  /** The user names of both, as in the audit log. */
  readonly oldUser: string;
  readonly newUser: string;
  readonly renewDeadlineMs: number;
}

/** Verdict is the result of the check. */
export interface Verdict {
  readonly violations: readonly string[];
  /** When the new leader's claim reached the server, in milliseconds since the epoch. */
  readonly acquiredAt: number | undefined;
  /** Requests of the old leader that arrived after that, although sent before its deadline by its own clock. */
  readonly late: number;
  /** How many of those the server stored. */
  readonly lateStored: number;
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/**
 * judge compares the server's record with the previous leader's own. Two things must hold: by its own clock the old leader sent
 * nothing after its renew deadline; and the server received nothing from it after the new leader's claim, except what it had sent
 * before that deadline and the network or the kernel delayed.
 */
export function judge(evidence: Evidence): Verdict {
  const { audit, journal, oldUser, newUser, renewDeadlineMs } = evidence;
  const violations = sentTooLate(journal, renewDeadlineMs);
  const claim = audit.find((event) => isLeaseWrite(event) && event.user.username === newUser && succeeded(event));
  if (!claim) return { violations: [...violations, 'the new leader’s claim is not in the audit log'], ...nothing };
  const acquiredAt = Date.parse(claim.requestReceivedTimestamp);

  const sent = new Set(
    journal.flatMap((entry) => (entry.kind === 'sent' && entry.what === 'write' ? [entry.name] : [])),
  );
  const leaseWrites = journal.filter((entry) => entry.kind === 'sent' && entry.what === 'lease').length;
  let leasesSeen = 0;
  let late = 0;
  let lateStored = 0;
  for (const event of audit) {
    if (event.user.username !== oldUser || READS.has(event.verb)) continue;
    const name = event.objectRef?.name ?? '';
    const isLease = isLeaseWrite(event);
    if (isLease) leasesSeen++;
    // Everything that reached the server must be in the journal, whose times were checked above.
    const isKnown = isLease ? leasesSeen <= leaseWrites : sent.has(name);
    if (!isKnown) violations.push(`the server has a ${event.verb} of ${name} that is not in the old leader's journal`);
    // Parsing loses microseconds; equal times count as after.
    if (Date.parse(event.requestReceivedTimestamp) < acquiredAt) continue;
    late++;
    if (succeeded(event)) lateStored++;
  }
  return { violations, acquiredAt, late, lateStored };
}

const nothing = { acquiredAt: undefined, late: 0, lateStored: 0 };

/** Each write must have been sent within the deadline of a renewal known to be successful by then. */
function sentTooLate(journal: readonly JournalEntry[], renewDeadlineMs: number): string[] {
  const violations: string[] = [];
  const leases = new Map<number, number>();
  let renewedAt: number | undefined;
  for (const entry of journal) {
    if (entry.kind === 'sent' && entry.what === 'lease') {
      if (renewedAt !== undefined && entry.at > renewedAt + renewDeadlineMs) {
        violations.push(`renewed ${Math.round(entry.at - renewedAt)} ms after the last successful renewal was sent`);
      }
      leases.set(entry.id, entry.at);
    } else if (entry.kind === 'answered') {
      const at = leases.get(entry.id);
      if (at !== undefined && entry.status < 300) renewedAt = at;
    } else if (entry.kind === 'sent') {
      const age = renewedAt === undefined ? Number.POSITIVE_INFINITY : entry.at - renewedAt;
      if (age > renewDeadlineMs) {
        violations.push(`sent ${entry.name} ${Math.round(age)} ms after the last successful renewal was sent`);
      }
    }
  }
  return violations;
}

function isLeaseWrite(event: AuditEvent): boolean {
  return event.objectRef?.resource === 'leases' && !READS.has(event.verb);
}

function succeeded(event: AuditEvent): boolean {
  const code = event.responseStatus?.code ?? 0;
  return code >= 200 && code < 300;
}
