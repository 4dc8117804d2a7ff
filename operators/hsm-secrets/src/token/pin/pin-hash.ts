import { createHmac } from 'node:crypto';

/**
 * hashPin returns a salted hash of a PIN, in hex. A PIN has so few digits that no hash hides it from a reader of the
 * salt: store both only where the PIN itself is stored too.
 */
export function hashPin(salt: string, pin: Buffer): string {
  return createHmac('sha256', salt).update(pin).digest('hex');
}
