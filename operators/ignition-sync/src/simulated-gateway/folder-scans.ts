import type { Clock, Timer } from '@bowline/machinery';
import type { GatewayFaults } from './gateway-faults.ts';
import { type LoadedFolder, loadConfig, loadProjects } from './load-folder.ts';
import { rewriteResources } from './rewrite-resources.ts';

/** ScannedFolder is a part of the data folder that has scans of its own. */
export type ScannedFolder = 'projects' | 'config';

/** ScanTrigger is why the gateway loaded a folder. */
export type ScanTrigger = 'start' | 'request' | 'automatic';

/** Load records one load. */
export interface Load {
  /** Wall time at its end. */
  readonly time: string;
  readonly folder: ScannedFolder;
  readonly trigger: ScanTrigger;
  readonly durationMs: number;
  readonly hash: string;
  readonly files: number;
  /** The number of resource.json files that the gateway rewrote. */
  readonly rewritten: number;
  readonly projects: readonly string[];
  /** At most MAX_PROBLEMS. */
  readonly problems: readonly string[];
}

/** FolderScansOptions configures the scans of a folder. */
export interface FolderScansOptions {
  readonly folder: ScannedFolder;
  readonly dataFolder: string;
  readonly clock: Clock;
  readonly faults: () => GatewayFaults;
  /** Called after each load. */
  readonly onLoad: (load: Load) => void;
  /** Ends scans and waits. */
  readonly signal: AbortSignal;
}

/** LockRequest is a request for the lock of a folder. */
export interface LockRequest {
  readonly acquireTimeoutMs: number;
  readonly holdTimeoutMs: number;
}

const MAX_PROBLEMS = 100;
const NOTHING: LoadedFolder = { projects: [], resources: new Map(), hash: '', files: 0, problems: [] };

/** FolderScans loads one folder when it is requested to, one scan at a time, and holds its scan lock. */
export class FolderScans {
  readonly #options: FolderScansOptions;
  readonly #listeners = new Set<() => void>();
  #loaded = NOTHING;
  #lastScan: { readonly timestamp: number; readonly durationMs: number } | undefined;
  #running: Promise<void> | undefined;
  /** A scan that is requested during a scan may concern files that were read already, so it is done afterwards. */
  #next: ScanTrigger | undefined;
  #lock: { readonly expiresAt: number; readonly timer: Timer } | undefined;

  constructor(options: FolderScansOptions) {
    this.#options = options;
  }

  /** loaded is what the last successful scan found. */
  get loaded(): LoadedFolder {
    return this.#loaded;
  }

  /** isLocked reports whether the gateway must not scan by itself. */
  get isLocked(): boolean {
    return this.#lock !== undefined;
  }

  /** status is the response to GET scan. */
  get status(): object {
    return {
      scanActive: this.#running !== undefined,
      lastScanTimestamp: this.#lastScan?.timestamp ?? null,
      lastScanDuration: this.#lastScan?.durationMs ?? null,
    };
  }

  /** lockStatus is the response to GET scan-lock. */
  get lockStatus(): object {
    const leftMs = this.#lock && this.#lock.expiresAt - this.#options.clock.monotonic();
    return { locked: this.isLocked, ...(leftMs === undefined ? {} : { remainingSeconds: Math.ceil(leftMs / 1000) }) };
  }

  /** request queues a scan and releases the lock. */
  request(): void {
    this.#release();
    this.#start('request');
  }

  /** scanAutomatically queues a scan unless the lock is held. */
  scanAutomatically(): void {
    if (!this.isLocked) this.#start('automatic');
  }

  /** loadAtStart loads the folder for the first time. It rewrites nothing: nothing was loaded before. */
  async loadAtStart(): Promise<void> {
    this.#start('start');
    await this.idle();
  }

  /** idle resolves when no scan is running or queued. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** acquireLock waits for running scans and for another holder of the lock. It reports whether the lock is held. */
  async acquireLock({ acquireTimeoutMs, holdTimeoutMs }: LockRequest, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + acquireTimeoutMs;
    while (this.#running || this.#lock) {
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0 || signal.aborted) return false;
      await this.#untilChanged(leftMs, signal);
    }
    const timer = clock.setTimer(holdTimeoutMs, () => this.#release());
    this.#lock = { expiresAt: clock.monotonic() + holdTimeoutMs, timer };
    return true;
  }

  /** stop releases the lock and resolves when the running scan has ended. The signal must be aborted. */
  async stop(): Promise<void> {
    this.#next = undefined;
    this.#release();
    await this.idle();
  }

  #release(): void {
    this.#lock?.timer.cancel();
    this.#lock = undefined;
    this.#notify();
  }

  #start(trigger: ScanTrigger): void {
    if (this.#options.signal.aborted) return;
    if (this.#running) {
      if (this.#next !== 'request') this.#next = trigger;
      return;
    }
    this.#running = this.#scan(trigger).finally(() => {
      this.#running = undefined;
      const next = this.#next;
      this.#next = undefined;
      if (next) this.#start(next);
      this.#notify();
    });
  }

  async #scan(trigger: ScanTrigger): Promise<void> {
    const { folder, dataFolder, clock, faults, onLoad, signal } = this.#options;
    const startedAt = clock.monotonic();
    const { brokenProjects, scanMs } = faults();
    const before = this.#loaded;
    let rewritten = 0;
    let problems: readonly string[];
    try {
      if (scanMs > 0) await clock.sleep(scanMs, signal);
      this.#loaded =
        folder === 'projects' ? await loadProjects(dataFolder, { brokenProjects }) : await loadConfig(dataFolder);
      problems = this.#loaded.problems;
      if (trigger !== 'start')
        rewritten = await rewriteResources(dataFolder, this.#loaded, { before, now: clock.now() });
    } catch (error) {
      if (signal.aborted) return;
      problems = [error instanceof Error ? error.message : 'unknown error'];
    }
    const durationMs = clock.monotonic() - startedAt;
    // Two scans within a millisecond have different timestamps, so that a client can tell them apart.
    const timestamp = Math.max(Math.floor(clock.now()), (this.#lastScan?.timestamp ?? 0) + 1);
    this.#lastScan = { timestamp, durationMs };
    const { hash, files, projects } = this.#loaded;
    const names = projects.filter(({ problem }) => problem === '').map(({ name }) => name);
    const time = new Date(clock.now()).toISOString();
    const about = { hash, files, rewritten, projects: names, problems: problems.slice(0, MAX_PROBLEMS) };
    onLoad({ time, folder, trigger, durationMs: Math.round(durationMs), ...about });
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #untilChanged(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', done);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = this.#options.clock.setTimer(ms, done);
      signal.addEventListener('abort', done, { once: true });
      this.#listeners.add(done);
    });
  }
}
