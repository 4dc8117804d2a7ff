import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '@bowline/machinery';
import type { PinAttempt, PinAttemptStore, PinAttempts } from './pin-attempts.ts';

/** pinAttemptsFile returns a store in a file of an existing folder, which should be in memory. */
export function pinAttemptsFile(folder: string): PinAttemptStore {
  const file = join(folder, 'pin-attempts.json');
  return {
    read: () => {
      const text = readIfExists(file);
      return text === undefined ? undefined : (parse(text) ?? 'unreadable');
    },
    write: (attempts) => {
      // A crash leaves the old or the new file.
      const temporary = join(folder, `.pin-attempts-${randomUUID()}`);
      writeFileSync(temporary, JSON.stringify(attempts), { mode: 0o600, flush: true });
      renameSync(temporary, file);
    },
  };
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): PinAttempts | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (!isObject(json) || typeof json.salt !== 'string' || !Array.isArray(json.attempts)) return undefined;
    const attempts: readonly unknown[] = json.attempts;
    return attempts.every(isAttempt) ? { salt: json.salt, attempts } : undefined;
  } catch {
    return undefined;
  }
}

function isAttempt(json: unknown): json is PinAttempt {
  return isObject(json) && typeof json.hash === 'string' && (json.outcome === 'unknown' || json.outcome === 'refused');
}
