import { realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** The link that the kubelet replaces on each update. */
const MOUNTED_DATA = '..data';

/**
 * mountedVersion returns the folder that currently contains the files of a mounted Secret or ConfigMap, or the folder
 * itself if nothing is mounted. Files read from it have one version: the link may change between two reads.
 */
export function mountedVersion(folder: string): Promise<string> {
  return realpath(join(folder, MOUNTED_DATA)).catch(() => folder);
}
