import { systemClock } from '../clock/system-clock.ts';
import { invalid } from './subject.ts';

/** ValidityOptions configures how long a certificate is valid. */
export interface ValidityOptions {
  /** How long the certificate is valid from `now`, in milliseconds. */
  validForMs?: number;
  /** Wall time in milliseconds since the epoch. Defaults to the system clock. */
  now?: number;
}

// Machines that check a certificate have their own clocks; five minutes is the skew that Kerberos and others allow.
const BACKDATED_MS = 5 * 60_000;

/** validity returns the dates of a certificate, in whole seconds, because X.509 has no smaller unit. */
export function validity(options: ValidityOptions, defaultMs: number): { notBefore: Date; notAfter: Date } {
  const now = options.now ?? systemClock.now();
  const validForMs = options.validForMs ?? defaultMs;
  if (!(validForMs >= 1000)) throw invalid(`validForMs is ${validForMs}`, 'use at least 1000');
  const notAfter = wholeSeconds(now + validForMs);
  // GeneralizedTime has four digits for the year.
  if (!(notAfter.getTime() < Date.UTC(10_000, 0)))
    throw invalid('it would expire after the year 9999', 'lower validForMs');
  return { notBefore: wholeSeconds(now - BACKDATED_MS), notAfter };
}

function wholeSeconds(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}
