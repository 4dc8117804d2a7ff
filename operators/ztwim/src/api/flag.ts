import { s } from '@bowline/runtime/resource';

/** flag returns the schema of a boolean that is written as text, as existing objects of these kinds have it. */
export function flag() {
  return s.enum(['true', 'false']);
}

/** isOn returns the boolean value of a flag. */
export function isOn(value: 'true' | 'false' | undefined): boolean {
  return value === 'true';
}
