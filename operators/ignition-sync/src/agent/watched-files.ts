import type { WatchedGateway } from '../bidirectional/agent/change-watcher.ts';
import { DataFolder } from '../engine/files/data-folder.ts';
import type { DesiredFile } from '../engine/tree/tree-entry.ts';
import type { StatusReporter } from './cluster/status-reporter.ts';
import type { AgentRepository } from './source/agent-repository.ts';
import type { GatewaySync } from './sync/gateway-sync.ts';
import type { Target } from './target.ts';

/** WatchedFilesOptions configures whose changes are sent to Git. */
export interface WatchedFilesOptions {
  readonly dataFolder: string;
  readonly sync: Pick<GatewaySync, 'manifest'>;
  readonly repository: Pick<AgentRepository, 'readBlob'>;
  readonly reporter: StatusReporter;
  /** Called once, when there is something to watch. */
  readonly onStart: () => void;
}

interface Watched {
  readonly target: Target;
  readonly files: ReadonlyMap<string, DesiredFile>;
}

/** WatchedFiles holds what a gateway should have, for the watcher that sends its changes to Git. */
export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  #watched: Watched | undefined;
  #isStarted = false;
  /** Whether the desired state is known, and is to be synced. */
  isAllowed = true;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
  }

  /** pause is called when a sync begins: what it changes is no change of the gateway. */
  pause(): void {
    this.#watched = undefined;
  }

  /** loaded is called when the gateway has loaded the files of a commit; undefined if it has those of a snapshot, or none. */
  loaded(target: Target, files: ReadonlyMap<string, DesiredFile> | undefined): void {
    const { reporter, onStart } = this.#options;
    const isEnabled = target.metadata.settings.bidirectional?.enabled ?? false;
    this.#watched = isEnabled && files !== undefined ? { target, files } : undefined;
    const isWatching = this.#watched === undefined ? undefined : true;
    if (reporter.report.isWatching !== isWatching) reporter.update({ isWatching });
    if (this.#watched === undefined || this.#isStarted) return;
    this.#isStarted = true;
    onStart();
  }

  /** current returns what the gateway should have. Undefined while nothing is sent. */
  async current(): Promise<WatchedGateway | undefined> {
    const { dataFolder, sync, repository } = this.#options;
    const watched = this.#watched;
    const settings = watched?.target.metadata.settings.bidirectional;
    if (watched === undefined || settings === undefined || !this.isAllowed) return undefined;
    const manifest = await sync.manifest();
    // A sync may have begun meanwhile.
    if (manifest === undefined || this.#watched !== watched) return undefined;
    const { plan, settings: own } = watched.target;
    return {
      name: plan.name,
      key: plan.key,
      folder: await DataFolder.open(dataFolder),
      manifest,
      files: watched.files,
      excludePatterns: own.tree.excludePatterns ?? [],
      settings,
      readBlob: (blob, signal) => repository.readBlob(blob, signal),
    };
  }
}
