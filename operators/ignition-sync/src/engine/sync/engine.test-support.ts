import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { desiredTree, type TreeSettings } from '../tree/desired-tree.ts';
import { type MemoryFile, MemoryRepository } from './memory-repository.test-support.ts';
import { SyncEngine, type SyncEngineOptions } from './sync-engine.ts';
import type { SyncRequest } from './sync-request.ts';

/** TestFolder is a data folder with a sync engine and a repository in memory. */
export class TestFolder implements AsyncDisposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'bowline-engine-'));
  readonly repository: MemoryRepository = new MemoryRepository(1_000);
  engine: SyncEngine;
  readonly #options: Omit<SyncEngineOptions, 'dataFolder' | 'holder'>;

  constructor(options: Omit<SyncEngineOptions, 'dataFolder' | 'holder'> = {}) {
    this.#options = options;
    this.engine = this.open();
  }

  /** open returns another engine for the same folder. */
  open(holder = 'pod'): SyncEngine {
    return new SyncEngine({ dataFolder: this.path, holder, ...this.#options });
  }

  /** request returns the request to place a commit. Without mappings, its paths are those of the data folder. */
  request(
    files: Readonly<Record<string, MemoryFile>>,
    { prune, signal, held, lfs, ...settings }: Partial<TreeSettings> & Partial<SyncRequest> = {},
  ): SyncRequest {
    const tops = [...new Set(Object.keys(files).map((path) => path.split('/')[0] ?? ''))];
    const mappings = tops.map((top) => ({ source: top, destination: top }));
    const tree = desiredTree(this.repository.commit(files), { mappings, ...settings });
    return { commit: 'c1', ref: 'main', settingsHash: 's', tree, blobs: this.repository, prune, signal, held, lfs };
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.path, path)), { recursive: true });
    writeFileSync(join(this.path, path), content);
  }

  /** files returns the live files, and with `state` those of the agent. */
  files(below = ''): Record<string, string> {
    const files: Record<string, string> = {};
    for (const entry of readdirSync(join(this.path, below), { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name).slice(join(this.path, below).length).replace(/^\//, '');
      if (entry.isFile() && !path.startsWith('.ignition-sync/'))
        files[path] = readFileSync(join(this.path, below, path), 'utf8');
    }
    return files;
  }

  /** replaced returns the backups, by path. */
  replaced(): Record<string, string> {
    const all = this.files('.ignition-sync/replaced');
    return Object.fromEntries(
      Object.entries(all).map(([path, content]) => [path.slice(path.indexOf('/') + 1), content]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.engine[Symbol.asyncDispose]();
    rmSync(this.path, { recursive: true, force: true });
  }
}
