import { CelFailure, TimestampValue } from './values.ts';

const TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))?$/;

/** parseTimestamp parses an RFC 3339 time; the zone may be missing. */
export function parseTimestamp(text: string): TimestampValue {
  const match = TIME.exec(text);
  if (match === null) throw new CelFailure(`invalid timestamp ${JSON.stringify(text)}`);
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (
    date.getUTCMonth() !== Number(month) - 1 ||
    date.getUTCDate() !== Number(day) ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59 ||
    // As in Go: some write a day as 24 hours.
    Number(zoneHour) > 24 ||
    Number(zoneMinute) > 60
  )
    throw new CelFailure(`invalid timestamp ${JSON.stringify(text)}`);
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === '-' ? 1 : -1);
  const nanoseconds = BigInt(date.getTime() + zone) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return new TimestampValue(nanoseconds, -zone / 60_000);
}

/** formatTimestamp formats a time as RFC 3339, in its original zone, with as many digits as needed. */
export function formatTimestamp({ nanoseconds, zoneMinutes }: TimestampValue): string {
  const rest = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const local = Number((nanoseconds - rest) / 1_000_000n) + zoneMinutes * 60_000;
  const seconds = new Date(local).toISOString().slice(0, 19);
  const fraction = rest.toString().padStart(9, '0').replace(/0+$/, '');
  return `${seconds}${fraction === '' ? '' : `.${fraction}`}${zoneMinutes === 0 ? 'Z' : formatZone(zoneMinutes)}`;
}

function formatZone(minutes: number): string {
  const part = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const away = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${part(away / 60)}:${part(away % 60)}`;
}

const HOUR = 3_600_000_000_000n;
const UNITS: readonly (readonly [RegExp, bigint])[] = [
  [/^(?:ns|nano.*)$/i, 1n],
  [/^(?:us|µs|micro.*)$/i, 1_000n],
  [/^(?:ms|milli.*)$/i, 1_000_000n],
  [/^(?:s|sec.*)$/i, 1_000_000_000n],
  [/^(?:m|min.*)$/i, 60_000_000_000n],
  [/^(?:h|hr|hour.*)$/i, HOUR],
  [/^(?:d|day.*)$/i, 24n * HOUR],
  [/^(?:w|wk|week.*)$/i, 168n * HOUR],
];

/**
 * parseLenientDuration parses what the API server's `duration` format accepts besides Go durations: `3 days`, `1 week 2
 * h`.
 */
export function parseLenientDuration(text: string): bigint {
  let total = 0n;
  let isKnown = false;
  for (const [, number = '0', unit = ''] of text.matchAll(/(\d{1,18})\s*([A-Za-zµ]+)/g)) {
    for (const [name, scale] of UNITS) {
      if (!name.test(unit)) continue;
      isKnown = true;
      total += BigInt(number) * scale;
    }
  }
  if (!isKnown) throw new CelFailure(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return total;
}
