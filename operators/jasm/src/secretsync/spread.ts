import { hash } from 'node:crypto';

/** How much of a period a regular look may be early or late. */
const SHARE = 0.1;

/**
 * spread is a factor between 0.9 and 1.1, always the same for a text: it keeps apart the regular looks at different sources, and
 * those at one source together.
 */
export function spread(text: string): number {
  const fraction = Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) / 2 ** 32;
  return 1 - SHARE + 2 * SHARE * fraction;
}
