import { BowlineError } from '../errors/bowline-error.ts';
import { InputError } from '../errors/input-error.ts';

/** formatTime formats wall time as `metav1.Time`: UTC, whole seconds. Used for conditions, events and creation. */
export function formatTime(ms: number): string {
  return `${iso(Math.floor(ms / 1000) * 1000).slice(0, -5)}Z`;
}

/** formatMicroTime formats wall time as `metav1.MicroTime`: UTC, always six digits. Used for Leases and events. */
export function formatMicroTime(ms: number): string {
  // A double holds current times with a precision of about a quarter of a microsecond: round, do not truncate.
  const micros = Math.round(ms * 1000);
  const rest = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  return `${iso((micros - rest) / 1000).slice(0, -4)}${String(rest).padStart(6, '0')}Z`;
}

function iso(ms: number): string {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  // RFC 3339 has four digits for the year; outside that range, Date uses another format or throws.
  if (!(year >= 0 && year <= 9999))
    throw new BowlineError(
      'BOWLINE_TIME_INVALID',
      `cannot format ${ms} ms as a time; use milliseconds since the epoch`,
    );
  return date.toISOString();
}

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** parseTime parses an RFC 3339 time of either precision and returns milliseconds since the epoch, with a fraction. */
export function parseTime(text: string): number {
  const match = RFC3339.exec(text);
  if (!match) throw invalid(text);
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // Date converts the 30th of February to a day in March; RFC 3339 does not allow it.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) throw invalid(text);
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const offsetMs = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * 60_000;
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return date.getTime() + micros / 1000 + (sign === '-' ? offsetMs : -offsetMs);
}

function invalid(text: string): InputError {
  const detail = 'must be an RFC 3339 time such as 2026-01-31T12:00:00Z';
  return new InputError('BOWLINE_TIME_INVALID', 'the time', text, detail);
}
