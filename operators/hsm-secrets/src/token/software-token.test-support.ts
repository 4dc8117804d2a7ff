import { APPLICATION } from './layout/label.ts';
import { SoftwareToken, type SoftwareTokenOptions } from './software-token.ts';
import type { Token } from './token.ts';

/** PIN is the PIN of tokens in tests. */
export const PIN = Buffer.from('648219');

/** softwareToken returns a token with the PIN of the tests. */
export function softwareToken(options: Partial<SoftwareTokenOptions> = {}): SoftwareToken {
  return new SoftwareToken({ serialNumber: 'T1', pin: PIN, ...options });
}

/** loggedIn opens a session and logs in. */
export function loggedIn(device: SoftwareToken, pin: Buffer = PIN): Token {
  const token = device.open();
  token.login(pin);
  return token;
}

/** addObjects creates data objects as another program does: by label, with their values. */
export function addObjects(device: SoftwareToken, objects: readonly (readonly [string, string | Buffer])[]): void {
  const token = loggedIn(device);
  for (const [label, value] of objects)
    token.create({ label, value: Buffer.from(value), application: APPLICATION, objectId: Buffer.alloc(0) });
}

/** labelsOn returns the labels of all objects on a token, sorted. */
export function labelsOn(device: SoftwareToken): string[] {
  return loggedIn(device)
    .find(APPLICATION)
    .map(({ label }) => label)
    .sort();
}
