import { createHash } from 'node:crypto';
import { type Clock, formatTime, parseDuration } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { encodeChanges } from '../changes/change-set.ts';
import type { ChangeSender } from './change-sender.ts';
import { excludedFrom, findChanges, type WatchedState } from './find-changes.ts';
import { walkPaths } from './walk-paths.ts';

/** WatchedGateway is a gateway whose files are watched. */
export interface WatchedGateway extends WatchedState {
  /** The name of the gateway, and its key in ConfigMaps. */
  readonly name: string;
  readonly key: string;
}

/** ChangeProblem is why changes are not sent. */
export interface ChangeProblem {
  readonly reason: 'GuardrailExceeded' | 'NotReversible';
  readonly message: string;
}

/** ChangeWatcherOptions configures a watcher. */
export interface ChangeWatcherOptions {
  /**
   * current returns what the gateway should have. Undefined while nothing is sent: bidirectional is off, the IgnitionSync is paused, a sync
   * runs, or the last one is not complete.
   */
  readonly current: () => Promise<WatchedGateway | undefined>;
  readonly sender: Pick<ChangeSender, 'send'>;
  /** Called when a problem appears, changes, or is solved. */
  readonly onProblem: (problem: ChangeProblem | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** WALK_MS is the interval at which the watched paths are walked. inotify does not work on network volumes. */
export const WALK_MS = 5_000;

/** ChangeWatcher sends changes that were made on a gateway, when no file has changed for the debounce time. */
export class ChangeWatcher {
  readonly #options: ChangeWatcherOptions;
  /** The state of the files at the last walk, and since when it is the same. */
  #seen: { readonly fingerprint: string; readonly since: number } | undefined;
  /** The state that was dealt with. */
  #handled = '';
  #problem = '';

  constructor(options: ChangeWatcherOptions) {
    this.#options = options;
  }

  /** run watches until the signal is aborted. It rejects only for a defect. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#walk(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn('the changes of the gateway cannot be determined, and are tried again', { error });
        this.#seen = undefined;
      }
      await clock.sleep(WALK_MS, signal).catch(() => undefined);
    }
  }

  async #walk(signal: AbortSignal): Promise<void> {
    const { clock, current } = this.#options;
    const gateway = await current();
    if (!gateway) {
      this.#seen = undefined;
      return;
    }
    const fingerprint = await fingerprintOf(gateway, signal);
    if (fingerprint === this.#handled) return;
    const now = clock.monotonic();
    if (this.#seen?.fingerprint !== fingerprint) this.#seen = { fingerprint, since: now };
    if (now - this.#seen.since < parseDuration(gateway.settings.debounce)) return;
    await this.#send(gateway, signal);
    this.#handled = fingerprint;
  }

  async #send(gateway: WatchedGateway, signal: AbortSignal): Promise<void> {
    const { clock, log, sender } = this.#options;
    const found = await findChanges(gateway, signal);
    this.#report(found.kind === 'refused' ? { reason: found.reason, message: found.message } : undefined);
    if (found.kind === 'refused' || found.changes.length === 0) return;
    const { name, key, manifest } = gateway;
    const timestamp = found.timestamp ?? formatTime(clock.now());
    const parts = encodeChanges({ gateway: name, timestamp, commit: manifest.commit, changes: found.changes });
    log.info('sending changes of the gateway to Git', { files: found.changes.length, parts: parts.length });
    await sender.send(key, parts, signal);
  }

  #report(problem: ChangeProblem | undefined): void {
    const message = problem?.message ?? '';
    if (message === this.#problem) return;
    this.#problem = message;
    this.#options.onProblem(problem);
  }
}

async function fingerprintOf(gateway: WatchedGateway, signal: AbortSignal): Promise<string> {
  const { folder, manifest, settings } = gateway;
  const files = await walkPaths(folder, settings.watchPaths ?? [], excludedFrom(gateway), signal);
  const hash = createHash('sha256').update(`${manifest.commit} ${manifest.settingsHash}\n`);
  for (const [path, { size, mtime, inode }] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${path}\0${size} ${mtime} ${inode}\n`);
  return hash.digest('hex');
}
