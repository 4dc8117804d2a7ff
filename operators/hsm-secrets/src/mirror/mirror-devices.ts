import { type Clock, forEachConcurrently } from '@bowline/machinery';
import type { TokenError } from '../token/token-error.ts';
import type { SecretSummary } from '../token/token-service.ts';
import { askDevices, type Devices, type Reply, targetsOf } from './devices.ts';
import { MirrorErrors } from './mirror-errors.ts';
import { answerOf, type PathAnswer } from './path-answer.ts';
import { type Consistency, consistencyOf, type Decision, resolve } from './resolve.ts';
import { rewriteOutliers } from './rewrite-outliers.ts';

/** MirrorOptions configures a round. */
export interface MirrorOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** See `ResolveInput`. */
  readonly writeMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** PathState is the state of a path on all devices. */
export interface PathState {
  /** Whether the devices had the same content before the round. */
  readonly found: Consistency;
  /** Whether they have the same content after it. */
  readonly consistency: Consistency;
  /** Whether content was discarded, or is about to be, that is not just an older version. */
  readonly hasConflict: boolean;
  /** What each device has after the round, by serial number. */
  readonly answers: ReadonlyMap<string, PathAnswer>;
}

/** MirrorResult is the result of a round. */
export interface MirrorResult {
  /** The number of copies and tombstones that were written. */
  readonly synced: number;
  /** The number of tombstones that were removed. */
  readonly purged: number;
  /** The number of paths with a conflict. */
  readonly conflicts: number;
  /** At most 20 messages. */
  readonly errors: readonly string[];
  /** The number of all errors. */
  readonly errorCount: number;
  /** The devices that could not be compared, in order. */
  readonly unreachable: readonly string[];
  /** The devices that have exactly what the primary device has after the round, itself included, in order. */
  readonly inSync: readonly string[];
  readonly paths: ReadonlyMap<string, PathState>;
}

/** The values of that many secrets are in memory at the same time. */
const MAX_CONCURRENT_PATHS = 4;

/**
 * mirrorDevices compares all devices once and makes them equal as far as it is safe. Each device is listed once, and
 * values are read only to copy them. What changes during the round is left to the next one. It rejects only with the
 * reason of the signal: problems of devices are part of the result.
 */
export async function mirrorDevices(devices: Devices, options: MirrorOptions): Promise<MirrorResult> {
  return new Round(devices, options).run();
}

const UNKNOWN: PathState = { found: 'Unknown', consistency: 'Unknown', hasConflict: false, answers: new Map() };

class Round {
  readonly #devices: Devices;
  readonly #expected: readonly string[];
  readonly #options: MirrorOptions;
  readonly #errors = new MirrorErrors();
  readonly #paths = new Map<string, PathState>();
  #now = 0;
  #synced = 0;
  #purged = 0;

  constructor(devices: Devices, options: MirrorOptions) {
    this.#devices = devices;
    this.#expected = targetsOf(devices);
    this.#options = options;
  }

  async run(): Promise<MirrorResult> {
    const { clock, signal } = this.#options;
    // Before the lists: what is written while they are read counts as new.
    this.#now = clock.now();
    const lists = await this.#list();
    const paths = [...new Set([...lists.values()].flatMap((list) => [...list.keys()]))].sort();
    // In this order in the result, whichever is ready first.
    for (const path of paths) this.#paths.set(path, UNKNOWN);
    const [failure] = await forEachConcurrently(paths, MAX_CONCURRENT_PATHS, (path) => this.#path(path, lists), {
      signal,
    });
    if (failure) throw failure.error;
    return {
      synced: this.#synced,
      purged: this.#purged,
      conflicts: [...this.#paths.values()].filter(({ hasConflict }) => hasConflict).length,
      errors: this.#errors.messages,
      errorCount: this.#errors.count,
      unreachable: this.#expected.filter((serial) => !lists.has(serial)),
      inSync: this.#expected.filter((serial) => lists.has(serial) && this.#isInSync(serial, lists)),
      paths: this.#paths,
    };
  }

  #isInSync(serial: string, lists: ReadonlyMap<string, unknown>): boolean {
    const { primary } = this.#devices;
    if (primary === undefined || !lists.has(primary)) return false;
    const expected = [serial, primary];
    return [...this.#paths.values()].every(({ answers }) => consistencyOf({ expected, answers }) === 'Consistent');
  }

  /** #list returns the secrets of each device that answered, by path. */
  async #list(): Promise<ReadonlyMap<string, ReadonlyMap<string, SecretSummary>>> {
    const { signal } = this.#options;
    const replies = await askDevices(this.#expected, this.#devices, (token) => token.list('', signal), signal);
    const lists = new Map<string, ReadonlyMap<string, SecretSummary>>();
    for (const [serial, reply] of replies) {
      if ('error' in reply) this.#errors.add(`cannot list the secrets of device ${serial}: ${reply.error.message}`);
      else lists.set(serial, new Map(reply.value.map((summary) => [summary.path, summary])));
    }
    return lists;
  }

  async #path(path: string, lists: ReadonlyMap<string, ReadonlyMap<string, SecretSummary>>): Promise<void> {
    const { policy, primary } = this.#devices;
    const expected = this.#expected;
    const answers = new Map<string, PathAnswer>();
    for (const [serial, list] of lists) {
      const summary = list.get(path);
      answers.set(serial, summary ? answerOf(summary) : { kind: 'absent' });
    }
    const decision = resolve({
      expected,
      answers,
      now: this.#now,
      primary: policy === 'Active' ? undefined : primary,
      writeMs: this.#options.writeMs,
    });
    await this.#execute(path, decision, answers);
    const { consistency: found, hasConflict } = decision;
    this.#paths.set(path, { found, consistency: consistencyOf({ expected, answers }), hasConflict, answers });
  }

  /** #execute carries out a decision, and updates the answers of the devices that were changed. */
  async #execute(path: string, decision: Decision, answers: Map<string, PathAnswer>): Promise<void> {
    if (decision.action === 'rewrite') {
      const { winner } = decision;
      const { found, version, timestamp } = winner;
      const replies = await rewriteOutliers({ path, ...decision }, this.#devices, this.#options.signal);
      const written = this.#record(`write the secret ${JSON.stringify(path)} to`, replies);
      for (const serial of written) answers.set(serial, { ...found, version, timestamp });
      this.#synced += written.length;
    } else if (decision.action === 'purge') await this.#purge(path, decision.tombstones, answers);
  }

  async #purge(
    path: string,
    tombstones: readonly { readonly serial: string; readonly version: number }[],
    answers: Map<string, PathAnswer>,
  ): Promise<void> {
    const { signal } = this.#options;
    const versions = new Map(tombstones.map(({ serial, version }) => [serial, version]));
    const replies = await askDevices(
      [...versions.keys()],
      this.#devices,
      (token, serial) => token.purge(path, versions.get(serial) ?? 0, signal),
      signal,
    );
    const purged = this.#record(`remove the tombstone of ${JSON.stringify(path)} from`, replies);
    for (const serial of purged) answers.set(serial, { kind: 'absent' });
    this.#purged += purged.length;
  }

  /** #record returns the devices that succeeded, and keeps the errors of the others. */
  #record(attempt: string, replies: ReadonlyMap<string, Reply<unknown>>): readonly string[] {
    return [...replies].flatMap(([serial, reply]) => {
      if (!('error' in reply)) return [serial];
      if (!isConcurrentChange(reply.error))
        this.#errors.add(`cannot ${attempt} device ${serial}: ${reply.error.message}`);
      return [];
    });
  }
}

/** A secret that was changed during the round is not an error. The next round compares it again. */
function isConcurrentChange({ problem }: TokenError): boolean {
  return problem === 'VersionMismatch';
}
