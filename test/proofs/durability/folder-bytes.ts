import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** folderBytes returns the total size of the files in a folder. */
export function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
