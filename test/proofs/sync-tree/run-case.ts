import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integerBelow, type Random, seededRandom } from '@bowline/machinery';
import { MemoryRepository } from '../../../operators/ignition-sync/src/engine/sync/memory-repository.test-support.ts';
import { SyncEngine, type SyncResult } from '../../../operators/ignition-sync/src/engine/sync/sync-engine.ts';
import type { SyncRequest } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import { SyncError } from '../../../operators/ignition-sync/src/engine/sync-error.ts';
import { desiredTree } from '../../../operators/ignition-sync/src/engine/tree/desired-tree.ts';
import type { CaseOutcome } from '../run-cases.ts';
import { actOnGateway } from './gateway-actions.ts';
import { compareTrees, type Expectation, expectSync, isOurs, type World } from './judge.ts';
import { describeTree, type LiveTree, readTree } from './live-tree.ts';
import { type ModelTree, modelTree } from './model-tree.ts';
import { mutateRepository, type Repository, randomRepository, writeContent } from './random-repository.ts';
import { randomSettings, type Settings, VARIABLES } from './random-settings.ts';

const MAX_ROUNDS = 4;

/** CaseOptions configures a case. */
export interface CaseOptions {
  /** Changes the folders of a case after each sync, to show that the checks detect it. Defaults to nothing. */
  readonly tamper?: ((folders: Folders) => void) | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

/** Folders are the folders of a case: the data folder is inside the base, next to what must never change. */
export interface Folders {
  readonly base: string;
  readonly data: string;
  readonly outside: string;
}

/** runCase runs one seed: several syncs of random commits with random settings, each compared with the model. */
export async function runCase(seed: number, options: CaseOptions = {}): Promise<CaseOutcome> {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bowline-sync-tree-'));
  try {
    return await new Case(seed, { base, data: join(base, 'data'), outside: join(base, 'outside') }, options).run();
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

class Case {
  readonly #random: Random;
  readonly #folders: Folders;
  readonly #options: CaseOptions;
  readonly #blobs: MemoryRepository;
  /** Half of the cases contain nothing that must be refused. */
  readonly #hostility: number;
  readonly #violations: string[] = [];
  readonly #counts: Record<string, number> = {};
  #world: World = { managed: new Map(), created: new Set() };

  constructor(seed: number, folders: Folders, options: CaseOptions) {
    this.#random = seededRandom(seed);
    this.#folders = folders;
    this.#options = options;
    this.#blobs = new MemoryRepository(1 + integerBelow(this.#random, 5_000));
    this.#hostility = this.#random.next() < 0.5 ? 0 : this.#random.next() * 0.15;
  }

  async run(): Promise<CaseOutcome> {
    const { base, data, outside } = this.#folders;
    for (const folder of [data, outside, join(base, 'data-2'), join(outside, 'overview')]) mkdirSync(folder);
    for (const file of ['file.txt', 'overview/project.json']) writeFileSync(join(outside, file), 'canary');
    writeFileSync(join(base, 'canary.txt'), 'canary');
    const canary = describeTree(readTree(base, ['data']));
    let repository = randomRepository(this.#random, this.#hostility);
    let settings = randomSettings(this.#random, this.#hostility);
    for (let round = 1 + integerBelow(this.#random, MAX_ROUNDS); round > 0 && this.#violations.length === 0; round--) {
      actOnGateway(this.#random, data, outside, this.#hostility);
      await this.#round(repository, settings);
      if (describeTree(readTree(base, ['data'])) !== canary)
        this.#violations.push('something outside the data folder changed');
      repository = mutateRepository(this.#random, repository, this.#hostility);
      if (this.#random.next() < 0.4) settings = randomSettings(this.#random, this.#hostility);
    }
    return { violations: this.#violations, counts: this.#counts };
  }

  async #round(repository: Repository, settings: Settings): Promise<void> {
    await using engine = new SyncEngine({ dataFolder: this.#folders.data, holder: 'pod' });
    const before = this.#live();
    await this.#checkDrift(engine, before);
    const model = modelTree(repository, settings);
    const expectation = expectSync(model, this.#world, before, settings.prune);
    const result = await this.#sync(engine, repository, settings);
    this.#options.tamper?.(this.#folders);
    const after = this.#live();
    this.#options.trace?.(
      `${JSON.stringify(settings)}\n${[...repository.keys()].join('\n')}\n${result instanceof SyncError ? result.message : JSON.stringify(result.changes)}`,
    );
    if (result instanceof SyncError) {
      this.#judgeRefusal(result, expectation, before, after);
      return;
    }
    if (expectation.refusals.size > 0) {
      this.#violations.push(`the sync should have been refused: ${[...expectation.refusals].join(', ')}`);
      return;
    }
    this.#judgeChanges(result, expectation, before, after);
    this.#world = expectation.next;
    this.#takeBytes(model, after);
    await this.#checkSteady(engine, repository, settings, after);
  }

  #judgeRefusal(error: SyncError, { refusals }: Expectation, before: LiveTree, after: LiveTree): void {
    this.#count(`refused ${error.reason}`);
    if (!refusals.has(error.reason))
      this.#violations.push(
        `refused for ${error.reason} instead of ${[...refusals].join(', ') || 'nothing'}: ${error.message}`,
      );
    if (describeTree(before) !== describeTree(after))
      this.#violations.push(`a refused sync changed the live files (${error.reason})`);
  }

  #judgeChanges(result: SyncResult, expectation: Expectation, before: LiveTree, after: LiveTree): void {
    const actions = { add: expectation.added, modify: expectation.modified, delete: expectation.deleted };
    for (const [action, paths] of Object.entries(actions)) {
      this.#count(action, paths.length);
      const reported = result.changes.filter((change) => change.action === action).map(({ path }) => path);
      if (reported.toSorted().join('\n') !== [...paths].toSorted().join('\n'))
        this.#violations.push(`reported ${action} of ${reported.join(', ')} instead of ${paths.join(', ')}`);
    }
    this.#violations.push(...compareTrees(before, after, this.#world, expectation));
    for (const path of expectation.backedUp) this.#checkBackup(path, before);
    this.#count('synced');
  }

  /** Where only the value of a file is known to the model, its bytes are those that were placed. */
  #takeBytes({ files }: ModelTree, after: LiveTree): void {
    for (const [path, { isJson }] of files) {
      const entry = after.get(path);
      if (isJson && entry?.kind === 'file') this.#world.managed.set(path, { bytes: entry.bytes, isOrphaned: false });
    }
  }

  #checkBackup(path: string, before: LiveTree): void {
    const entry = before.get(path);
    if (entry?.kind !== 'file') return;
    this.#count('backed up');
    const copies = [...readTree(join(this.#folders.data, '.ignition-sync/replaced'))].filter(
      ([kept]) => kept.slice(kept.indexOf('/') + 1) === path,
    );
    if (!copies.some(([, copy]) => copy.kind === 'file' && copy.bytes.equals(entry.bytes)))
      this.#violations.push(`${path} was changed on the gateway and not backed up`);
  }

  async #checkDrift(engine: SyncEngine, live: LiveTree): Promise<void> {
    const found = (await engine.drift()).map(({ path }) => path);
    const expected = [...this.#world.managed].filter(
      ([path, { isOrphaned }]) => !isOrphaned && !isOurs(path, this.#world, live.get(path)),
    );
    this.#count('drifted', found.length);
    if (
      found.join('\n') !==
      expected
        .map(([path]) => path)
        .toSorted()
        .join('\n')
    )
      this.#violations.push(`drift of ${found.join(', ')} instead of ${expected.map(([path]) => path).join(', ')}`);
  }

  /** The same desired state again changes nothing. */
  async #checkSteady(engine: SyncEngine, repository: Repository, settings: Settings, after: LiveTree): Promise<void> {
    const drift = await engine.drift();
    if (drift.length > 0)
      this.#violations.push(`drift right after a sync: ${drift.map(({ path }) => path).join(', ')}`);
    const again = await this.#sync(engine, repository, settings);
    if (again instanceof SyncError) this.#violations.push(`the same sync was refused: ${again.message}`);
    else if (again.changes.length > 0) this.#violations.push(`the same sync changed ${JSON.stringify(again.changes)}`);
    if (describeTree(after) !== describeTree(this.#live()))
      this.#violations.push('the same sync changed the live files');
    const manifest = (): string => readFileSync(join(this.#folders.data, '.ignition-sync/manifest.json'), 'utf8');
    await this.#sync(engine, repository, settings);
    const stored = manifest();
    await this.#sync(engine, repository, settings);
    if (manifest() !== stored) this.#violations.push('the manifest changes in a steady state');
  }

  async #sync(engine: SyncEngine, repository: Repository, settings: Settings): Promise<SyncResult | SyncError> {
    const files = new Map(
      [...repository].map(([path, { mode, content }]) => [path, { content: writeContent(content), mode }]),
    );
    const { mappings, layout, patterns: excludePatterns, systemName, fields, maxFiles, prune } = settings;
    try {
      const tree = desiredTree(this.#blobs.commit(files), {
        mappings,
        servicePath: layout?.servicePath,
        excludePatterns,
        systemName,
        fields,
        variables: VARIABLES,
        names: await engine.names(),
        limits: { maxFiles },
      });
      const request: SyncRequest = {
        commit: VARIABLES.commit,
        ref: 'main',
        settingsHash: 'x',
        tree,
        blobs: this.#blobs,
        prune,
      };
      return await engine.sync(request);
    } catch (error) {
      if (error instanceof SyncError) return error;
      throw error;
    }
  }

  #live(): LiveTree {
    return readTree(this.#folders.data, ['.ignition-sync']);
  }

  #count(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }
}
