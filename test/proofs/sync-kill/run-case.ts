import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import type { SyncStep } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import { blobId } from '../../../operators/ignition-sync/src/engine/tree/blob-id.ts';
import type { TreeEntry } from '../../../operators/ignition-sync/src/engine/tree/tree-entry.ts';
import type { CaseOutcome } from '../run-cases.ts';
import { actOnGateway } from '../sync-tree/gateway-actions.ts';
import { expectSync, type World } from '../sync-tree/judge.ts';
import { type LiveTree, readTree } from '../sync-tree/live-tree.ts';
import { modelTree } from '../sync-tree/model-tree.ts';
import { mutateRepository, type Repository, randomRepository, writeContent } from '../sync-tree/random-repository.ts';
import { randomSettings, type Settings } from '../sync-tree/random-settings.ts';
import type { ChildTask, Kill } from './child-task.ts';
import { filesOf, judgeLeftovers, judgeMixture, judgeState, readProgress, type States } from './judge.ts';
import { type AgentRun, runAgent } from './run-agent.ts';

/** STEPS are the steps at which agents are killed. */
export const STEPS: readonly SyncStep[] = [
  'lock',
  'recover',
  'compare',
  'before-stage',
  'stage',
  'journal',
  'before-apply',
  'backup',
  'place',
  'delete',
  'manifest',
  'finish',
  'loaded',
];

/** After so many kills in a row an agent is left alone. */
const MAX_KILLS = 4;
const MAX_OCCURRENCE = 12;
const LARGE_BYTES = 600_000;
const MAX_KILL_MS = 120;

/** CaseOptions configures a case. */
export interface CaseOptions {
  /** The bundled agent process. */
  readonly program: string;
  /** Changes the data folder after each kill, to show that the checks detect it. Defaults to nothing. */
  readonly tamper?: ((data: string) => void) | undefined;
}

/** runCase runs one seed: a sync to a first commit, then one to a second commit that is killed at random places. */
export async function runCase(seed: number, options: CaseOptions): Promise<CaseOutcome> {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bowline-sync-kill-'));
  try {
    return await new Case(seed, base, options).run();
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

class Case {
  readonly #random: Random;
  readonly #base: string;
  readonly #data: string;
  readonly #options: CaseOptions;
  readonly #violations: string[] = [];
  readonly #counts: Record<string, number> = {};
  /** Content of the gateway that must be live or backed up at the end. */
  readonly #gatewayContent = new Map<string, Buffer>();

  constructor(seed: number, base: string, options: CaseOptions) {
    this.#random = seededRandom(seed);
    this.#base = base;
    this.#data = join(base, 'data');
    this.#options = options;
    for (const name of ['data', 'blobs', 'outside']) mkdirSync(join(base, name));
  }

  async run(): Promise<CaseOutcome> {
    const settings = this.#settings();
    const first = this.#repository(randomRepository(this.#random, 0), settings);
    const second = this.#repository(mutateRepository(this.#random, first, 0), settings);
    let world: World = { managed: new Map(), created: new Set() };
    actOnGateway(this.#random, this.#data, join(this.#base, 'outside'), 0);
    // Sometimes the first sync of all is the one that is killed.
    if (this.#random.next() < 0.8) {
      const expectation = expectSync(modelTree(first, settings), world, this.#live(), settings.prune);
      const run = await this.#agent({ ...this.#task(first, settings), commit: 'first' });
      if (run.isKilled) throw new Error('an agent was killed that should not be');
      if (run.refused !== undefined || expectation.refusals.size > 0) return this.#skipped();
      world = expectation.next;
      actOnGateway(this.#random, this.#data, join(this.#base, 'outside'), 0);
    }
    const live = this.#live();
    const expectation = expectSync(modelTree(second, settings), world, live, settings.prune);
    if (expectation.refusals.size > 0) return this.#skipped();
    for (const path of expectation.backedUp) this.#gatewayContent.set(path, filesOf(live).get(path) ?? Buffer.alloc(0));
    const old = new Map([...filesOf(live)].map(([path, bytes]) => [path, [bytes]]));
    const next = filesOf(live);
    for (const path of expectation.deleted) next.delete(path);
    for (const [path, { bytes }] of expectation.placed) next.set(path, bytes);
    await this.#killAndRecover({ ...this.#task(second, settings), commit: 'second' }, { old, next });
    return { violations: this.#violations, counts: this.#counts };
  }

  async #killAndRecover(
    task: ChildTask,
    states: { old: Map<string, Buffer[]>; next: Map<string, Buffer> },
  ): Promise<void> {
    let mustFinish = false;
    const kills = 1 + integerBelow(this.#random, MAX_KILLS);
    for (let count = 0; count < kills; count++) {
      const run = await this.#killedAgent({ ...task, recoverOnly: count > 0 && this.#random.next() < 0.5 });
      if (!run.isKilled && run.refused !== undefined) this.#violations.push(`the sync was refused: ${run.refused}`);
      this.#options.tamper?.(this.#data);
      this.#violations.push(...judgeMixture(this.#files(), states).map((each) => `at a kill: ${each}`));
      const { hasJournal, commit } = readProgress(this.#data);
      if (mustFinish && !hasJournal && commit !== 'second') this.#violations.push('a complete journal was given up');
      if (!hasJournal) this.#checkState(states, commit === 'second' ? 'new' : 'old', 'at a kill without a journal');
      mustFinish ||= hasJournal || commit === 'second';
      if (this.#random.next() < 0.3) this.#actWhileDead(states);
    }
    const recovery = await this.#agent({ ...task, recoverOnly: true });
    if (!recovery.isKilled) this.#count(`recovery ${recovery.recovered}`);
    this.#checkState(states, mustFinish ? 'new' : 'old', 'after the recovery');
    await this.#converge(task, states, mustFinish);
  }

  /** What the gateway wrote while no agent ran stays, or is backed up. */
  async #converge(task: ChildTask, states: States, isPlaced: boolean): Promise<void> {
    const run = await this.#agent(task);
    if (run.isKilled || run.refused !== undefined) {
      this.#violations.push(`it does not converge: ${run.isKilled ? 'killed' : run.refused}`);
      return;
    }
    if (isPlaced && run.changes !== 0 && this.#counts['written while dead'] === undefined)
      this.#violations.push(`the recovered sync was not complete: ${run.changes} more changes`);
    this.#checkState(states, 'new', 'after the last sync');
    const again = await this.#agent(task);
    if (again.isKilled || again.changes !== 0 || again.isLoaded !== true)
      this.#violations.push(`the state is not steady: ${JSON.stringify(again)}`);
    this.#violations.push(...judgeLeftovers(this.#data));
    this.#checkGatewayContent();
  }

  /** Writes a file that the sync changes and has not changed yet, as a gateway does that runs on. */
  #actWhileDead(states: { old: Map<string, Buffer[]>; next: Map<string, Buffer> }): void {
    const pending = [...this.#files()].filter(([path, bytes]) => {
      const target = states.next.get(path);
      const isOld = states.old.get(path)?.some((each) => each.equals(bytes)) ?? false;
      return isOld && (target === undefined || !target.equals(bytes));
    });
    if (pending.length === 0) return;
    const [path] = pick(this.#random, pending);
    const content = Buffer.from(`written while no agent ran ${integerBelow(this.#random, 1e9)}`);
    writeFileSync(join(this.#data, path), content);
    states.old.set(path, [...(states.old.get(path) ?? []), content]);
    this.#gatewayContent.set(path, content);
    this.#count('written while dead');
  }

  #checkGatewayContent(): void {
    const replaced = filesOf(readTree(join(this.#data, '.ignition-sync/replaced')));
    const live = this.#files();
    for (const [path, bytes] of this.#gatewayContent) {
      this.#count('content of the gateway');
      const copies = [...replaced]
        .filter(([kept]) => kept.slice(kept.indexOf('/') + 1) === path)
        .map(([, each]) => each);
      if (![live.get(path), ...copies].some((each) => each?.equals(bytes)))
        this.#violations.push(`the gateway's ${path} was lost`);
    }
  }

  #checkState(states: States, expected: 'old' | 'new', when: string): void {
    this.#violations.push(...judgeState(this.#files(), states, expected).map((each) => `${when}: ${each}`));
  }

  async #killedAgent(task: ChildTask): Promise<AgentRun> {
    const chance = this.#random.next();
    const step = pick(this.#random, STEPS);
    const kill: Kill | undefined =
      chance < 0.65
        ? {
            step,
            occurrence:
              step === 'lock' || step === 'recover'
                ? 0
                : integerBelow(this.#random, this.#random.next() < 0.5 ? 2 : MAX_OCCURRENCE),
          }
        : chance < 0.85
          ? { byte: integerBelow(this.#random, this.#random.next() < 0.5 ? 2_000 : LARGE_BYTES) }
          : undefined;
    const run = await this.#agent(
      { ...task, kill },
      kill === undefined ? integerBelow(this.#random, MAX_KILL_MS) : undefined,
    );
    const where = kill === undefined ? 'a time' : 'step' in kill ? kill.step : 'a byte';
    this.#count(run.isKilled ? `killed at ${where}` : 'not killed');
    return run;
  }

  #agent(task: ChildTask, killAfterMs?: number): Promise<AgentRun> {
    return runAgent(task, { program: this.#options.program, taskFile: join(this.#base, 'task.json'), killAfterMs });
  }

  #task(repository: Repository, settings: Settings): Omit<ChildTask, 'commit'> {
    const listing: TreeEntry[] = [];
    for (const [path, { mode, content }] of repository) {
      const bytes = writeContent(content);
      const blob = blobId(bytes);
      writeFileSync(join(this.#base, 'blobs', blob), bytes);
      listing.push({ path, mode, blob });
    }
    return {
      data: this.#data,
      blobs: join(this.#base, 'blobs'),
      listing,
      settings,
      recoverOnly: false,
      kill: undefined,
    };
  }

  /** Settings whose result the model knows byte by byte. */
  #settings(): Settings {
    for (;;) {
      const settings = randomSettings(this.#random, 0);
      const hasCreation = settings.mappings.some(({ patches }) => patches !== undefined);
      if (!hasCreation && settings.prune !== 'All') return { ...settings, fields: [] };
    }
  }

  /** Adds a large file, so that a kill hits the middle of a stream. */
  #repository(repository: Repository, { mappings }: Settings): Repository {
    const size = integerBelow(this.#random, LARGE_BYTES);
    const bytes = Buffer.alloc(size, `${integerBelow(this.#random, 1e6)} `);
    const source = pick(this.#random, mappings).source.replace(/\/$/, '');
    const path = source === '.' ? 'large.txt' : `${source}/large.txt`;
    if (!repository.has(source) && !repository.has(dirname(path)))
      repository.set(path, { mode: '100644', content: { kind: 'bytes', bytes } });
    return repository;
  }

  #live(): LiveTree {
    return readTree(this.#data, ['.ignition-sync']);
  }

  #files(): Map<string, Buffer> {
    return filesOf(this.#live());
  }

  #skipped(): CaseOutcome {
    return { violations: [], counts: { 'refused by the settings': 1 } };
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }
}
