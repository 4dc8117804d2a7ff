import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '@bowline/machinery';

/** TransferLimits bounds what a remote can make git use. */
export interface TransferLimits {
  /** The maximum size of one transfer. */
  readonly maxTransferBytes: number;
  /** The maximum memory of git and its child processes, without mapped files. Checked on Linux only. */
  readonly maxMemoryBytes: number;
}

/** TransferGuardOptions describes the process to watch. */
export interface TransferGuardOptions extends TransferLimits {
  readonly clock: Clock;
  readonly pid: number;
  readonly gitDir: string;
  /** Called once, when a limit is exceeded. */
  readonly onExceeded: (limit: 'transfer' | 'memory') => void;
}

const INTERVAL_MS = 200;
/** git has a few levels of child processes. */
const MAX_DEPTH = 6;

/**
 * TransferGuard checks a running fetch at intervals. git limits the size of a push, not of a fetch, and keeps a ref advertisement
 * of any size in memory. What arrives within one interval can exceed a limit.
 */
export class TransferGuard implements Disposable {
  readonly #options: TransferGuardOptions;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: TransferGuardOptions) {
    this.#options = options;
    this.#schedule();
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.setTimer(INTERVAL_MS, () => {
      this.#check().then(
        () => this.#schedule(),
        () => this.#schedule(),
      );
    });
  }

  async #check(): Promise<void> {
    const { pid, gitDir, maxTransferBytes, maxMemoryBytes, onExceeded } = this.#options;
    const [received, used] = await Promise.all([receivedBytes(gitDir), memoryBytes(pid)]);
    if (this.#isStopped || (received <= maxTransferBytes && used <= maxMemoryBytes)) return;
    this[Symbol.dispose]();
    onExceeded(received > maxTransferBytes ? 'transfer' : 'memory');
  }
}

/** receivedBytes returns the size of the packs that are being received into a repository. */
async function receivedBytes(gitDir: string): Promise<number> {
  const folder = join(gitDir, 'objects', 'pack');
  const names = await readdir(folder).catch(() => []);
  const sizes = names
    .filter((name) => name.startsWith('tmp_pack_'))
    .map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** memoryBytes returns the memory of a process and its descendants, without mapped files; 0 where it is unknown. */
export async function memoryBytes(pid: number, depth = MAX_DEPTH): Promise<number> {
  const [status, children] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'latin1').catch(() => ''),
    readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => ''),
  ]);
  const own = Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
  const pids = depth === 0 ? [] : children.split(' ').map(Number).filter(Boolean);
  const below = await Promise.all(pids.map((child) => memoryBytes(child, depth - 1)));
  return below.reduce((sum, bytes) => sum + bytes, own);
}
