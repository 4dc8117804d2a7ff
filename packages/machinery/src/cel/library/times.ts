import { overload } from '../overloads.ts';
import { CelFailure, type DurationValue, type TimestampValue } from '../values.ts';

const DAY_MS = 86_400_000;

/** The wall clock of a time zone, as a UTC date: `UTC`, `+01:00` or a name of the IANA database. */
function localDate({ nanoseconds }: TimestampValue, zone = 'UTC'): Date {
  const ms = Number((nanoseconds - (((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  return new Date(ms + offsetMs(ms, zone));
}

function offsetMs(ms: number, zone: string): number {
  if (zone === '' || zone === 'UTC') return 0;
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (fixed !== null) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
  } catch {
    throw new CelFailure(`unknown time zone ${zone}`);
  }
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS);
}

const parts = (
  [
    ['getFullYear', (date: Date) => date.getUTCFullYear()],
    ['getMonth', (date: Date) => date.getUTCMonth()],
    ['getDate', (date: Date) => date.getUTCDate()],
    ['getDayOfMonth', (date: Date) => date.getUTCDate() - 1],
    ['getDayOfWeek', (date: Date) => date.getUTCDay()],
    ['getDayOfYear', dayOfYear],
    ['getHours', (date: Date) => date.getUTCHours()],
    ['getMinutes', (date: Date) => date.getUTCMinutes()],
    ['getSeconds', (date: Date) => date.getUTCSeconds()],
    ['getMilliseconds', (date: Date) => date.getUTCMilliseconds()],
  ] as const
).flatMap(([name, part]) => {
  const run = (time: TimestampValue, zone?: string) => BigInt(part(localDate(time, zone)));
  return [overload(`timestamp.${name}(): int`, run), overload(`timestamp.${name}(string): int`, run)];
});

const totals = (
  [
    ['getHours', 3_600_000_000_000n],
    ['getMinutes', 60_000_000_000n],
    ['getSeconds', 1_000_000_000n],
    ['getMilliseconds', 1_000_000n],
  ] as const
).map(([name, unit]) => overload(`duration.${name}(): int`, ({ nanoseconds }: DurationValue) => nanoseconds / unit));

/** times are the parts of timestamps and the totals of durations. */
export const times = [...parts, ...totals];
