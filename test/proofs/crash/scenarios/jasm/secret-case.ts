import { untilList } from '@bowline/control-plane/testing';
import { keyString, Pod, Secret } from '@bowline/kubernetes';
import { pick, type Random } from '@bowline/machinery';
import { type Client, isNotFound } from '@bowline/runtime/client';
import type { Identified } from '../../fingerprint.ts';
import { inParallel } from '../../in-parallel.ts';
import type { CrashCase } from '../../scenario.ts';
import { type ExpectedSecret, judge } from './judge.ts';
import type { Store } from './store.ts';
import { namespaces, PREFIX, requestingPod } from './world.ts';

const PODS_PER_SOURCE = 10;
/** Every n-th pod requests a Secret that already belongs to another owner. */
const TAKEN_EVERY = 20;
const TIMEOUT_MS = 180_000;
/** The operator is started up to four times in a case; each time it may read the version and the value of a source once. */
const MAX_READS_PER_SOURCE = 8;
/** One event per write, and every other run reads a source. */
const REQUESTS_PER_POD = 2.5;

/** The actions during which the operator is killed: all Secrets are created, every other one is deleted, or all are changed. */
export const actions: readonly string[] = ['first sync', 'deletion', 'change'];

/** SecretCaseOptions configures a case. */
export interface SecretCaseOptions {
  readonly admin: Client;
  readonly store: Store;
  /** The number of requesting pods. */
  readonly pods: number;
  readonly action: string;
  /** The prefix of all names in it. */
  readonly name: string;
}

interface RequestingPod {
  /** The key of the pod and of its Secret. */
  readonly key: { readonly namespace: string; readonly name: string };
  readonly path: string;
  readonly isTaken: boolean;
  /** Whether its Secret is deleted with it. */
  readonly isLeaving: boolean;
}

/** SecretCase is the requesting pods, their sources and their Secrets, from creation to deletion. */
export class SecretCase implements CrashCase {
  readonly requests: number;
  readonly #options: SecretCaseOptions;
  readonly #requesting: RequestingPod[];
  readonly #foreign = new Map<string, Secret>();
  readonly #revisions = new Map<string, number>();
  readonly #beganAt = Date.now();
  #notified = 0;

  private constructor(options: SecretCaseOptions) {
    const { pods, action, name } = options;
    this.#options = options;
    this.#requesting = Array.from({ length: pods }, (_, index) => ({
      key: {
        namespace: namespaces[index % namespaces.length] ?? '',
        name: `${name}-${String(index).padStart(3, '0')}`,
      },
      path: `/${name}/${Math.floor(index / PODS_PER_SOURCE)}`,
      isTaken: index % TAKEN_EVERY === 0,
      isLeaving: action === 'deletion' && index % 2 === 1,
    }));
    for (const { path } of [...this.#requesting, this.#last]) this.#revisions.set(path, 0);
    this.requests = Math.ceil(this.#concerned.length * REQUESTS_PER_POD);
  }

  /** begin fills the store, creates Secrets of other owners in the way, and creates the prerequisites of the action. */
  static async begin(options: SecretCaseOptions): Promise<SecretCase> {
    const one = new SecretCase(options);
    await one.#prepare();
    return one;
  }

  async #prepare(): Promise<void> {
    const { admin, action } = this.#options;
    await this.#put();
    await inParallel(
      this.#requesting.filter(({ isTaken }) => isTaken),
      async ({ key }) => {
        const theirs = { metadata: key, data: { mine: Buffer.from('x').toString('base64') } };
        this.#foreign.set(keyString(key), await admin.create(Secret, theirs));
      },
    );
    if (action === 'first sync') return;
    await this.#createPod();
    await this.#until((found) => judge(found, this.#wanted(false)).length === 0);
  }

  isOwn({ resource, namespace, name }: Identified): boolean {
    const { key } = this.#options.store;
    if (resource === Secret.plural && namespace === key.namespace && name === key.name) return true;
    return (resource === Secret.plural || resource === Pod.plural) && name.startsWith(`${this.#options.name}-`);
  }

  async act(): Promise<void> {
    const { admin, action } = this.#options;
    if (action === 'first sync') await this.#createPod();
    else if (action === 'change') await this.#change([...this.#revisions.keys()]);
    else await inParallel(this.#concerned, ({ key }) => admin.delete(Pod, key));
  }

  async progress(): Promise<number> {
    const problems = judge(await this.#found(), this.#wanted());
    return Math.max(0, 1 - problems.length / this.#concerned.length);
  }

  async meanwhile(random: Random): Promise<void> {
    const { admin } = this.#options;
    const staying = this.#requesting.filter(({ isTaken, isLeaving }) => !isTaken && !isLeaving);
    const { key, path } = pick(random, staying);
    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => admin.delete(Secret, key),
      () => admin.patch(Secret, key, { type: 'merge', body: { data: { drift: 'eWVz' } } }),
      // Without notification: a starting process checks the version of every source.
      () => this.#bump([path]),
    ];
    this.#notified += PODS_PER_SOURCE;
    // Some Secrets do not exist.
    await pick(random, disturbances)().catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async done(signal: AbortSignal): Promise<void> {
    await this.#until((found) => judge(found, this.#wanted()).length === 0, signal);
  }

  async problems(): Promise<readonly string[]> {
    // The present state may be the work of an earlier process: the last one must have checked it too.
    await this.#createPod([this.#last]);
    this.#requesting.push(this.#last);
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    const reads = await this.#options.store.reads(this.#beganAt);
    const allowed = this.#notified + this.#revisions.size * MAX_READS_PER_SOURCE;
    return [
      ...judge(await this.#found(), this.#wanted()),
      ...(reads <= allowed ? [] : [`the store was read ${reads} times, at most ${allowed} are needed`]),
    ];
  }

  async end(): Promise<void> {
    const { admin, store } = this.#options;
    const gone = (error: unknown): void => {
      if (!isNotFound(error)) throw error;
    };
    const { key: lastKey } = this.#last;
    const others = this.#requesting.filter(({ key }) => key.name !== lastKey.name);
    await inParallel(others, ({ key }) => admin.delete(Pod, key).catch(gone));
    // When the operator has deleted this Secret, it has observed that the other pods are gone, and creates no Secret for them.
    await admin.delete(Pod, lastKey);
    await this.#until((found) => found.every(({ metadata }) => metadata?.name !== lastKey.name));
    await store.put(new Map([...this.#revisions.keys()].map((path) => [path, undefined])));
    await inParallel(await this.#found(), ({ metadata: { namespace, name = '' } = {} }) =>
      admin.delete(Secret, { namespace, name }).catch(gone),
    );
  }

  async #createPod(requesting: readonly RequestingPod[] = this.#requesting): Promise<void> {
    const { admin } = this.#options;
    this.#notified += requesting.length;
    await inParallel(requesting, ({ key, path, isLeaving }) =>
      admin.create(
        Pod,
        requestingPod(key, {
          path,
          secretName: key.name,
          deletionPolicy: isLeaving || key.name === this.#last.key.name ? 'Delete' : 'Retain',
        }),
      ),
    );
  }

  /** #change gives sources new values and notifies all requesters. */
  async #change(paths: readonly string[]): Promise<void> {
    const { admin } = this.#options;
    await this.#bump(paths);
    this.#notified += this.#requesting.length;
    await inParallel(this.#requesting, ({ key }) => {
      const body = { metadata: { annotations: { [`${PREFIX}/force-sync`]: '1' } } };
      return admin.patch(Pod, key, { type: 'merge', body });
    });
  }

  async #bump(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#revisions.set(path, (this.#revisions.get(path) ?? 0) + 1);
    await this.#put();
  }

  async #put(): Promise<void> {
    await this.#options.store.put(new Map([...this.#revisions.keys()].map((path) => [path, this.#valuesOf(path)])));
  }

  #valuesOf(path: string): Readonly<Record<string, string>> {
    const revision = this.#revisions.get(path) ?? 0;
    return { revision: `r${revision}`, password: `${path} ${revision} `.repeat(10) };
  }

  /** The pod that requests after everything else is done. */
  get #last(): RequestingPod {
    const { name } = this.#options;
    const key = { namespace: namespaces[0] ?? '', name: `${name}-last` };
    return { key, path: `/${name}/last`, isTaken: false, isLeaving: false };
  }

  /** The pods whose Secrets the action affects. */
  get #concerned(): readonly RequestingPod[] {
    const leaving = this.#requesting.filter(({ isLeaving }) => isLeaving);
    return leaving.length > 0 ? leaving : this.#requesting.filter(({ isTaken }) => !isTaken);
  }

  /** The expected state after the action, or before it. */
  #wanted(isAfter = true): ReadonlyMap<string, ExpectedSecret> {
    return new Map(
      this.#requesting.map(({ key, path, isLeaving }): [string, ExpectedSecret] => {
        const before = this.#foreign.get(keyString(key));
        if (before) return [keyString(key), { state: 'foreign', before }];
        if (isLeaving && isAfter) return [keyString(key), { state: 'gone' }];
        return [keyString(key), { state: 'synced', values: this.#valuesOf(path) }];
      }),
    );
  }

  async #found(): Promise<readonly Secret[]> {
    return this.#ours((await this.#options.admin.list(Secret)).items);
  }

  #ours(secrets: readonly Secret[]): readonly Secret[] {
    return secrets.filter(({ metadata }) => metadata?.name?.startsWith(`${this.#options.name}-`));
  }

  async #until(condition: (found: readonly Secret[]) => boolean, signal?: AbortSignal): Promise<void> {
    const { admin } = this.#options;
    await untilList(admin, Secret, {}, (secrets) => condition(this.#ours(secrets)), { timeoutMs: TIMEOUT_MS, signal });
  }
}
