import type {} from '@bowline/control-plane/testing';
import { inject } from 'vitest';

/** How many times fewer objects a test creates on the embedded control plane. */
const EMBEDDED_DIVISOR = 5;

/**
 * atScale returns the number of objects for a test about many of them: all of them on a real control plane, as in the gate, and
 * fewer on the embedded one, because `npm test` should be short.
 */
export function atScale(full: number): number {
  // Undefined without a real control plane, despite the type.
  const shared: unknown = inject('bowlineControlPlane');
  return shared === undefined ? full / EMBEDDED_DIVISOR : full;
}
