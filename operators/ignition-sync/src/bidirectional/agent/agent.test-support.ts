import { applyDefaults } from '@bowline/machinery/schema';
import { bidirectionalSpec } from '../../api/experimental-spec.ts';
import { DataFolder } from '../../engine/files/data-folder.ts';
import { TestFolder } from '../../engine/sync/engine.test-support.ts';
import type { MemoryFile } from '../../engine/sync/memory-repository.test-support.ts';
import type { TreeSettings } from '../../engine/tree/desired-tree.ts';
import type { WatchedGateway } from './change-watcher.ts';
import type { Bidirectional } from './find-changes.ts';

/** COMMIT is the commit of a watched gateway. */
export const COMMIT = 'c'.repeat(40);

/** WatchedFolder is a data folder after a sync. */
export interface WatchedFolder extends AsyncDisposable {
  readonly live: TestFolder;
  /** state returns what the watcher knows about the gateway now. */
  state(settings?: object): Promise<WatchedGateway>;
}

/** watchedFolder places files by a real sync, as the folders projects and config of the service `site`. */
export async function watchedFolder(
  files: Readonly<Record<string, MemoryFile>>,
  tree: Partial<TreeSettings> = {},
): Promise<WatchedFolder> {
  const live = new TestFolder();
  const mappings = [
    { source: 'services/site/projects', destination: 'projects' },
    { source: 'services/site/config', destination: 'config' },
  ];
  const request = { ...live.request(files, { mappings, ...tree }), commit: COMMIT };
  await live.engine.sync(request);
  const folder = await DataFolder.open(live.path);
  return {
    live,
    async state(settings = {}) {
      const manifest = await live.engine.manifest();
      if (!manifest) throw new Error('the sync is not complete');
      return {
        name: 'site',
        key: 'site',
        folder,
        manifest,
        files: request.tree.files,
        excludePatterns: ['**/*.bak'],
        settings: settingsOf(settings),
        readBlob: async (blob) => {
          const chunks: Uint8Array[] = [];
          for await (const chunk of live.repository.open(blob)) chunks.push(chunk);
          return Buffer.concat(chunks);
        },
      };
    },
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}

/** settingsOf returns settings that watch projects and config, with the defaults of the kind. */
export function settingsOf(changes: object = {}): Bidirectional {
  return applyDefaults(
    { enabled: true, watchPaths: ['projects', 'config'], ...changes },
    bidirectionalSpec.json,
  ) as Bidirectional;
}
