import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NameRules } from '../tree/fold-path.ts';
import type { DataFolder } from './data-folder.ts';
import { statOf } from './file-stat.ts';
import { createFile } from './write-durably.ts';

/** probeNames finds out, with a file of its own, which names the file system of a data folder distinguishes. */
export async function probeNames({ state }: DataFolder): Promise<NameRules> {
  const id = randomBytes(6).toString('hex');
  // The letter e with an acute accent, as one character and as two.
  const probe = join(state, `probe-a-\u00e9-${id}`);
  const exists = async (name: string): Promise<boolean> => (await statOf(join(state, name))) !== undefined;
  const file = await createFile(probe);
  try {
    await file.close();
    return {
      isCaseSensitive: !(await exists(`PROBE-A-\u00e9-${id}`)),
      isNormalizationSensitive: !(await exists(`probe-a-e\u0301-${id}`)),
    };
  } finally {
    await rm(probe, { force: true });
  }
}
