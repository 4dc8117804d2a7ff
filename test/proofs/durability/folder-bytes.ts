import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** folderBytes is how much the files of a folder hold. */
export function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
