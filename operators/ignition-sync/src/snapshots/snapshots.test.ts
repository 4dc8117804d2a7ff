import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../engine/sync/engine.test-support.ts';
import type { SyncPlan } from '../engine/sync/plan.ts';
import type { SyncEngine } from '../engine/sync/sync-engine.ts';
import type { SyncRequest } from '../engine/sync/sync-request.ts';
import { FolderStore } from './folder-store.ts';
import type { SnapshotRecord } from './snapshot-index.ts';
import { Snapshots } from './snapshots.ts';

const { signal } = new AbortController();

/** A data folder whose syncs take snapshots. */
class SnapshotFolder extends TestFolder {
  readonly clock: VirtualClock;
  readonly snapshots: Snapshots;
  readonly records: SnapshotRecord[] = [];
  #next: SyncRequest | undefined;

  constructor(retentionCount = 5) {
    super({ hooks: { beforeStage: (plan) => this.#save(plan) } });
    this.clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
    const store = new FolderStore(Snapshots.folderOf(this.path));
    this.snapshots = new Snapshots({
      dataFolder: this.path,
      gateway: 'site',
      store,
      retentionCount,
      clock: this.clock,
    });
  }

  /** The manifest as it was before the sync: the engine cannot be asked from within one of its hooks. */
  async sync(request: SyncRequest, engine: SyncEngine = this.engine): Promise<void> {
    this.#manifest = await engine.manifest();
    this.#next = request;
    await engine.sync(request);
    await this.clock.advance(1_000);
  }

  async commit(commit: string, files: Readonly<Record<string, string>>): Promise<void> {
    await this.sync({ ...this.request(files), commit });
  }

  async rollBack(id: string): Promise<void> {
    await using restoration = await this.snapshots.restore(id, await this.engine.manifest(), signal);
    await this.sync(restoration.request);
  }

  #manifest: Awaited<ReturnType<SyncEngine['manifest']>>;

  async #save({ changes }: SyncPlan): Promise<void> {
    const { commit = '', settingsHash: settings = '' } = this.#next ?? {};
    this.records.push(await this.snapshots.create(changes, this.#manifest, { commit, settings }, signal));
  }

  archives(): string[] {
    return readdirSync(join(this.path, '.ignition-sync/snapshots')).toSorted();
  }
}

const A = { 'projects/p/project.json': '{"a": 1}', 'projects/p/view.json': '{}', 'projects/p/old.txt': 'old' };
const B = { 'projects/p/project.json': '{"b": 2}', 'projects/p/view.json': '{}', 'projects/p/new/new.txt': 'new' };
const C = { 'projects/p/project.json': '{"b": 2}', 'projects/p/view.json': '{"c": 3}', 'projects/q/q.txt': 'q' };

describe('a snapshot', () => {
  it('restores exactly what a sync replaced, deleted and added', async () => {
    await using folder = new SnapshotFolder();
    folder.write('projects/p/own.txt', 'of the gateway');
    await folder.commit('a', A);
    await folder.commit('b', B);
    const record = folder.records[1];
    expect(record).toMatchObject({ id: 'site-20260102-030406', fromCommit: 'a', toCommit: 'b' });
    await folder.rollBack(record?.id ?? '');
    expect(folder.files()).toEqual({ ...A, 'projects/p/own.txt': 'of the gateway' });
    expect(await folder.engine.manifest()).toMatchObject({ commit: 'a', ref: 'main', loaded: false });
  });

  it('restores the state before several syncs, and the rollback itself can be undone', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    await folder.commit('b', B);
    await folder.commit('c', C);
    await folder.rollBack(folder.records[1]?.id ?? '');
    expect(folder.files()).toEqual(A);
    await folder.rollBack(folder.records[3]?.id ?? '');
    expect(folder.files()).toEqual(C);
    await folder.rollBack(folder.records[2]?.id ?? '');
    expect(folder.files()).toEqual(B);
  });

  it('restores the file of the gateway that a sync replaced', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    folder.write('projects/p/view.json', '{"changed": "on the gateway"}');
    await folder.commit('c', C);
    await folder.rollBack(folder.records[1]?.id ?? '');
    expect(folder.files()['projects/p/view.json']).toBe('{"changed": "on the gateway"}');
  });

  it('is followed by a sync to the same commit as if nothing had happened', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    await folder.commit('b', B);
    await folder.rollBack(folder.records[1]?.id ?? '');
    await folder.commit('b', B);
    expect(folder.files()).toEqual(B);
    await folder.commit('c', C);
    expect(folder.files()).toEqual(C);
  });

  it('is removed when there are too many', async () => {
    await using folder = new SnapshotFolder(2);
    await folder.commit('a', A);
    await folder.commit('b', B);
    await folder.commit('c', C);
    const ids = folder.records.slice(1).map(({ id }) => id);
    expect((await folder.snapshots.list(signal)).map(({ id }) => id)).toEqual(ids);
    expect(folder.archives()).toEqual(['index.json', ...ids.map((id) => `${id}.tar.gz`)].toSorted());
  });

  it('gets a name of its own if two are taken in one second', async () => {
    await using folder = new SnapshotFolder();
    const state = { commit: 'a', settings: 's' };
    const first = await folder.snapshots.create([], undefined, state, signal);
    const second = await folder.snapshots.create([], undefined, state, signal);
    expect([first.id, second.id]).toEqual(['site-20260102-030405', 'site-20260102-030405-2']);
  });

  it('that does not exist is RollbackFailed, and nothing changes', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    await expect(folder.rollBack('site-20200101-000000')).rejects.toMatchObject({
      reason: 'RollbackFailed',
      message: `cannot return to the snapshot site-20200101-000000: it does not exist; set spec.rollback.toSnapshot to one of ${folder.records[0]?.id}, or remove spec.rollback`,
    });
    expect(folder.files()).toEqual(A);
  });

  it('that is damaged is RollbackFailed, and nothing changes', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    await folder.commit('b', B);
    const { id = '' } = folder.records[1] ?? {};
    const path = join(folder.path, '.ignition-sync/snapshots', `${id}.tar.gz`);
    const bytes = readFileSync(path);
    bytes[bytes.length - 10] = (bytes[bytes.length - 10] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expect(folder.rollBack(id)).rejects.toMatchObject({
      reason: 'RollbackFailed',
      message: expect.stringContaining('its checksum is not that of the index'),
    });
    expect(folder.files()).toEqual(B);
    writeFileSync(join(folder.path, '.ignition-sync/snapshots/index.json'), '{');
    await expect(folder.rollBack(id)).rejects.toMatchObject({
      message: expect.stringContaining('the index of the snapshots is damaged'),
    });
  });

  it('that cannot be stored stops the sync before a file changes', async () => {
    await using folder = new SnapshotFolder();
    await folder.commit('a', A);
    const index = join(folder.path, '.ignition-sync/snapshots');
    const failing = new Snapshots({
      dataFolder: folder.path,
      gateway: 'site',
      store: Object.assign(new FolderStore(index), { put: () => Promise.reject(new Error('the bucket is gone')) }),
      retentionCount: 5,
      clock: folder.clock,
    });
    const change = [{ path: 'projects/p/old.txt', action: 'delete' }] as const;
    await expect(failing.create(change, undefined, { commit: 'b', settings: '' }, signal)).rejects.toMatchObject({
      reason: 'SnapshotFailed',
      message: 'cannot store a snapshot before the sync: the bucket is gone',
    });
    expect(folder.archives().filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
