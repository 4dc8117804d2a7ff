import { parseTime } from '@bowline/machinery';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** age returns the time since a timestamp in kubectl's short form, with two units where the second is significant. */
export function age(timestamp: string | undefined, now: number): string {
  const then = timestamp === undefined ? undefined : parseTime(timestamp);
  return then === undefined ? '<unknown>' : shortDuration(now - then);
}

/** shortDuration formats a duration as kubectl does: `95s`, `3m20s`, `47h`, `2d3h`, `3y20d`. */
export function shortDuration(durationMs: number): string {
  if (durationMs < -2 * SECOND) return '<invalid>';
  const ms = Math.max(0, durationMs);
  const whole = (unit: number): number => Math.floor(ms / unit);
  const rest = (unit: number, below: number, name: string): string => {
    const left = Math.floor((ms % unit) / below);
    return left === 0 ? '' : `${left}${name}`;
  };
  if (ms < 2 * MINUTE) return `${whole(SECOND)}s`;
  if (ms < 10 * MINUTE) return `${whole(MINUTE)}m${rest(MINUTE, SECOND, 's')}`;
  if (ms < 3 * HOUR) return `${whole(MINUTE)}m`;
  if (ms < 8 * HOUR) return `${whole(HOUR)}h${rest(HOUR, MINUTE, 'm')}`;
  if (ms < 2 * DAY) return `${whole(HOUR)}h`;
  if (ms < 8 * DAY) return `${whole(DAY)}d${rest(DAY, HOUR, 'h')}`;
  if (ms < 2 * 365 * DAY) return `${whole(DAY)}d`;
  if (ms < 8 * 365 * DAY) return `${whole(365 * DAY)}y${rest(365 * DAY, DAY, 'd')}`;
  return `${whole(365 * DAY)}y`;
}
