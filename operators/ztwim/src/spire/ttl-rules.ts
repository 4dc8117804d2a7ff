import { formatDuration, parseDuration } from '@bowline/machinery';
import type { SpireServer } from '../api/spire-server.ts';

/** TtlVerdict is the result of the checks of the validities of a server. */
export interface TtlVerdict {
  readonly result: 'valid' | 'warning' | 'invalid';
  readonly message: string;
}

const SEVEN_DAYS_MS = 7 * 24 * 3_600_000;
const VALIDITIES = ['defaultX509Validity', 'defaultJWTValidity'] as const;

/**
 * checkTtls checks the validities of a server. SPIRE refuses to start with some of them; others shorten the validity of
 * identities, because the CA is replaced when a sixth of its own is left, or seven days.
 */
export function checkTtls(spec: Pick<SpireServer['spec'], 'caValidity' | (typeof VALIDITIES)[number]>): TtlVerdict {
  const fields = ['caValidity', ...VALIDITIES] as const;
  const zero = fields.find((field) => parseDuration(spec[field]) <= 0);
  if (zero) return invalid(`${zero} must be more than 0`);
  const caMs = parseDuration(spec.caValidity);
  const longer = VALIDITIES.find((field) => parseDuration(spec[field]) > caMs);
  if (longer)
    return invalid(
      `${longer} (${spec[longer]}) exceeds caValidity (${spec.caValidity}); increase caValidity, or reduce ${longer}`,
    );
  const limitMs = Math.min(caMs / 6, SEVEN_DAYS_MS);
  const risky = VALIDITIES.filter((field) => parseDuration(spec[field]) > limitMs);
  if (risky.length === 0) return { result: 'valid', message: 'all validities are consistent' };
  const parts = risky.map((field) => `${field} (${spec[field]})`).join(' and ');
  const longestMs = Math.max(...risky.map((field) => parseDuration(spec[field])));
  // Beyond the limit of seven days a longer validity of the CA does not help.
  const advice =
    longestMs > SEVEN_DAYS_MS ? '' : `increase caValidity to at least ${formatDuration(longestMs * 6)}, or `;
  return {
    result: 'warning',
    message: `${parts} can be cut short, because the CA is replaced before caValidity (${spec.caValidity}) ends; ${advice}reduce ${risky.join(' and ')} to at most ${formatDuration(Math.floor(limitMs))}`,
  };
}

function invalid(message: string): TtlVerdict {
  return { result: 'invalid', message };
}
