/** REVISION is the revision of every secret, in the encoding of a Secret. */
export const REVISION: string = Buffer.from('r1').toString('base64');

/** nameAt returns the name of an HSMSecret and its Secret. */
export function nameAt(index: number): string {
  return `app-${String(index).padStart(4, '0')}`;
}

/** pathOf returns where a secret is stored on the device. */
export function pathOf(index: number): string {
  return `team/${nameAt(index)}`;
}

/** contentOf returns the three values of a secret. */
export function contentOf(index: number): Readonly<Record<string, Buffer>> {
  return {
    username: Buffer.from(`user-${index}`),
    password: Buffer.from(`correct-horse-battery-staple-${index}`),
    revision: Buffer.from('r1'),
  };
}
