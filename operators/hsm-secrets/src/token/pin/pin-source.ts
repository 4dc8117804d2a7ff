import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** PinSource reads the PINs of the PIN Secret. It returns a new Buffer each time: its reader clears it after use. */
export interface PinSource {
  /** current returns the PIN; undefined if there is none. */
  current(): Buffer | undefined;
  /** next returns the PIN that is being set on the devices, while it is changed. */
  next(): Buffer | undefined;
}

/** mountedPin reads the PINs from a mounted Secret. A trailing line break is not part of a PIN. */
export function mountedPin(folder: string, key: string): PinSource {
  return { current: () => readPin(join(folder, key)), next: () => readPin(join(folder, `${key}.next`)) };
}

function readPin(file: string): Buffer | undefined {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const pin = trimmedPin(content);
  return pin.length === 0 ? undefined : pin;
}

/** trimmedPin returns the PIN in the content of a Secret: a trailing line break is not part of it. */
export function trimmedPin(content: Buffer): Buffer {
  return content.subarray(0, content.findLastIndex((byte) => byte !== 0x0a && byte !== 0x0d) + 1);
}
