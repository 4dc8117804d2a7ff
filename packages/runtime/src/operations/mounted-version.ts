import { realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** The link that the kubelet turns. */
const MOUNTED_DATA = '..data';

/**
 * mountedVersion is the folder in which the files of a mounted Secret or ConfigMap are at the moment, or the folder itself where
 * nothing is mounted. Files read from it are of one version: between two of them the link may turn.
 */
export function mountedVersion(folder: string): Promise<string> {
  return realpath(join(folder, MOUNTED_DATA)).catch(() => folder);
}
