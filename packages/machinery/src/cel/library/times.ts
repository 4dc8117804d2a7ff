import { overload } from '../overloads.ts';
import { CelFailure, type DurationValue, type TimestampValue } from '../values.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the wall clock time of a time zone as a UTC date. The zone is `UTC`, `+01:00` or a name of the IANA database.
 */
function localDate({ nanoseconds }: TimestampValue, zone = 'UTC'): Date {
  const ms = Number((nanoseconds - (((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  return new Date(ms + offsetMs(ms, zone));
}

function offsetMs(ms: number, zone: string): number {
  if (zone === '' || zone === 'UTC') return 0;
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (fixed !== null) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  const parts = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 1, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const wall = startOfDay(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1000;
  return wall - Math.floor(ms / 1000) * 1000;
}

/** There are several hundred zones, and a formatter is expensive to create. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATTERS = 1_000;

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  try {
    const formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formatters.size < MAX_FORMATTERS) formatters.set(zone, formatter);
    return formatter;
  } catch {
    throw new CelFailure(`unknown time zone ${zone}`);
  }
}

/** Unlike Date.UTC, it does not map the years before 100 to the 20th century. */
function startOfDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - startOfDay(date.getUTCFullYear(), 1, 1)) / DAY_MS);
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

/** times holds the functions on timestamps and durations. */
export const times = [...parts, ...totals];
