import { readFile, rm } from 'node:fs/promises';
import { BowlineError } from '@bowline/runtime';

/**
 * clearKubeconfig removes the kubeconfig that an earlier run left, so that a process that waits for the file does not
 * read the old one. A file that holds anything but one of our control planes is not ours, and is refused.
 */
export async function clearKubeconfig(path: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return;
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_UNWRITABLE',
      `cannot use ${path} for the kubeconfig: ${cause instanceof Error ? cause.message : String(cause)}; choose another file with --kubeconfig`,
      { cause },
    );
  }
  if (!isOurs(text)) {
    throw new BowlineError(
      'BOWLINE_KUBECONFIG_FOREIGN',
      `${path} exists and was not written by bowline; choose another file with --kubeconfig, or remove it`,
    );
  }
  await rm(path, { force: true });
}

function isOurs(text: string): boolean {
  try {
    const value = JSON.parse(text) as { clusters?: readonly { name?: unknown }[] } | null;
    return value?.clusters?.length === 1 && value.clusters[0]?.name === 'bowline';
  } catch {
    return false;
  }
}
