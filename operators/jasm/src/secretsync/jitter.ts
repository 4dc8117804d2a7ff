import { hash } from 'node:crypto';

/** The fraction of a period by which a periodic read may be early or late. */
const MAX_JITTER = 0.1;

/**
 * jitter returns a factor between 0.9 and 1.1, always the same for a text. It spreads the periodic reads of different
 * sources, and keeps those of one source together.
 */
export function jitter(text: string): number {
  const fraction = Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) / 2 ** 32;
  return 1 - MAX_JITTER + 2 * MAX_JITTER * fraction;
}
