import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import type { SyncStep } from '../../../operators/ignition-sync/src/engine/sync/sync-request.ts';
import { blobId } from '../../../operators/ignition-sync/src/engine/tree/blob-id.ts';
import type { TreeEntry } from '../../../operators/ignition-sync/src/engine/tree/tree-entry.ts';
import type { CaseOutcome } from '../run-cases.ts';
import { actOnGateway } from '../sync-tree/gateway-actions.ts';
import { type Expectation, expectSync, type World } from '../sync-tree/judge.ts';
import { type LiveTree, readTree } from '../sync-tree/live-tree.ts';
import { modelTree } from '../sync-tree/model-tree.ts';
import { mutateRepository, type Repository, randomRepository, writeContent } from '../sync-tree/random-repository.ts';
import { randomSettings, type Settings } from '../sync-tree/random-settings.ts';
import { runTask } from './agent.ts';
import type { ChildResult, ChildTask, Kill } from './child-task.ts';
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
const LARGE_BYTES = 600_000;
const MAX_KILL_MS = 40;

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

/** How often each step of a sync occurs, and the bytes that it reads. */
function placesOf({ placed, deleted, backedUp }: Expectation): ReadonlyMap<SyncStep | 'bytes', number> {
  const isChanged = placed.size + deleted.length > 0;
  return new Map<SyncStep | 'bytes', number>([
    ['before-stage', isChanged ? 1 : 0],
    ['stage', isChanged ? placed.size + 2 : 0],
    ['journal', isChanged ? 1 : 0],
    ['before-apply', isChanged ? 1 : 0],
    ['backup', backedUp.length],
    ['place', placed.size],
    ['delete', deleted.length],
    ['manifest', isChanged ? 1 : 0],
    ['finish', isChanged ? 2 : 0],
    ['loaded', isChanged ? 1 : 0],
    ['bytes', [...placed.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)],
  ]);
}

/** The steps of an agent that finishes the sync of another one. */
const RECOVERY_STEPS: ReadonlySet<SyncStep> = new Set([
  'lock',
  'recover',
  'backup',
  'place',
  'delete',
  'manifest',
  'finish',
]);

class Case {
  readonly #random: Random;
  readonly #base: string;
  readonly #data: string;
  readonly #options: CaseOptions;
  readonly #violations: string[] = [];
  readonly #counts: Record<string, number> = {};
  /** Content of the gateway that must be live or backed up at the end. */
  readonly #gatewayContent = new Map<string, Buffer>();

  #places: ReadonlyMap<SyncStep | 'bytes', number> = new Map();

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
      const run = await this.#undisturbed({ ...this.#task(first, settings), commit: 'first' });
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
    this.#places = placesOf(expectation);
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
      // Without a journal, a recovery alone has little to do.
      const { hasJournal: canRecover } = readProgress(this.#data);
      const recoverOnly = count > 0 && this.#random.next() < (canRecover ? 0.6 : 0.1);
      const run = await this.#killedAgent({ ...task, recoverOnly });
      if (!run.isKilled && run.refused !== undefined) this.#violations.push(`the sync was refused: ${run.refused}`);
      this.#options.tamper?.(this.#data);
      this.#violations.push(...judgeMixture(this.#files(), states).map((each) => `at a kill: ${each}`));
      const { hasJournal, commit } = readProgress(this.#data);
      if (mustFinish && !hasJournal && commit !== 'second') this.#violations.push('a complete journal was given up');
      if (!hasJournal) this.#checkState(states, commit === 'second' ? 'new' : 'old', 'at a kill without a journal');
      mustFinish ||= hasJournal || commit === 'second';
      if (this.#random.next() < 0.3) this.#actWhileDead(states);
    }
    const recovery = await this.#undisturbed({ ...task, recoverOnly: true });
    this.#count(`recovery ${recovery.recovered}`);
    this.#checkState(states, mustFinish ? 'new' : 'old', 'after the recovery');
    await this.#converge(task, states, mustFinish);
  }

  /** What the gateway wrote while no agent ran stays, or is backed up. */
  async #converge(task: ChildTask, states: States, isPlaced: boolean): Promise<void> {
    const run = await this.#undisturbed(task);
    if (run.refused !== undefined) {
      this.#violations.push(`it does not converge: ${run.refused}`);
      return;
    }
    if (isPlaced && run.changes !== 0 && this.#counts['written while dead'] === undefined)
      this.#violations.push(`the recovered sync was not complete: ${run.changes} more changes`);
    this.#checkState(states, 'new', 'after the last sync');
    const again = await this.#undisturbed(task);
    if (again.changes !== 0 || again.isLoaded !== true)
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
    const kill = chance < 0.7 ? this.#atStep(task) : chance < 0.85 ? this.#atByte() : undefined;
    const killAfterMs = kill === undefined ? integerBelow(this.#random, MAX_KILL_MS) : undefined;
    const { program } = this.#options;
    const run = await runAgent({ ...task, kill }, { program, taskFile: join(this.#base, 'task.json'), killAfterMs });
    const where = kill === undefined ? 'a time' : 'step' in kill ? kill.step : 'a byte';
    this.#count(run.isKilled ? `killed at ${where}` : 'not killed');
    return run;
  }

  #atStep({ recoverOnly }: ChildTask): Kill {
    const { hasJournal } = readProgress(this.#data);
    const isReachable = (step: SyncStep): boolean => {
      if ((this.#places.get(step) ?? 1) === 0) return false;
      return hasJournal
        ? RECOVERY_STEPS.has(step) || !recoverOnly
        : !recoverOnly || step === 'lock' || step === 'recover';
    };
    const step = pick(this.#random, STEPS.filter(isReachable));
    return { step, occurrence: integerBelow(this.#random, this.#places.get(step) ?? 1) };
  }

  #atByte(): Kill {
    return { byte: integerBelow(this.#random, Math.max(1, this.#places.get('bytes') ?? 1)) };
  }

  /** An agent that is not killed runs here: starting a process takes most of the time of a case. */
  #undisturbed(task: ChildTask): Promise<ChildResult> {
    return runTask(task, () => undefined);
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
