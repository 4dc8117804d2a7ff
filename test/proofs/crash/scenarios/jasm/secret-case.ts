import { untilList } from '@bowline/control-plane/testing';
import { keyString, Pod, Secret } from '@bowline/kubernetes';
import { pick, type Random } from '@bowline/machinery';
import { type Client, isNotFound } from '@bowline/runtime';
import type { Identified } from '../../fingerprint.ts';
import { inParallel } from '../../in-parallel.ts';
import type { CrashCase } from '../../scenario.ts';
import { judge, type Wanted } from './judge.ts';
import type { Store } from './store.ts';
import { askingPod, namespaces, PREFIX } from './world.ts';

const PODS_PER_SOURCE = 10;
/** Every so many pods ask for a Secret that somebody else has already. */
const TAKEN_EVERY = 20;
const PATIENCE_MS = 180_000;
/** The operator is started up to four times in a case; each time it may ask once for the version and once for the value of a source. */
const MOST_READS_PER_SOURCE = 8;
/** An event beside each write, and every other run reads a source. */
const REQUESTS_PER_POD = 2.5;

/** deeds are what the operator is killed at: all Secrets are made, every other one is deleted, or all are changed. */
export const deeds: readonly string[] = ['first sync', 'deletion', 'change'];

/** SecretCaseOptions says where a case plays. */
export interface SecretCaseOptions {
  readonly admin: Client;
  readonly store: Store;
  /** How many pods ask. */
  readonly pods: number;
  readonly deed: string;
  /** What the names of everything in it begin with. */
  readonly name: string;
}

interface Asking {
  /** Of the pod and of its Secret. */
  readonly key: { readonly namespace: string; readonly name: string };
  readonly path: string;
  readonly isTaken: boolean;
  /** Whether its Secret goes with it. */
  readonly isLeaving: boolean;
}

/** SecretCase is pods that ask, their sources and their Secrets, from the first to the last. */
export class SecretCase implements CrashCase {
  readonly requests: number;
  readonly #options: SecretCaseOptions;
  readonly #asking: Asking[];
  readonly #foreign = new Map<string, Secret>();
  readonly #revisions = new Map<string, number>();
  readonly #beganAt = Date.now();
  #told = 0;

  private constructor(options: SecretCaseOptions) {
    const { pods, deed, name } = options;
    this.#options = options;
    this.#asking = Array.from({ length: pods }, (_, index) => ({
      key: {
        namespace: namespaces[index % namespaces.length] ?? '',
        name: `${name}-${String(index).padStart(3, '0')}`,
      },
      path: `/${name}/${Math.floor(index / PODS_PER_SOURCE)}`,
      isTaken: index % TAKEN_EVERY === 0,
      isLeaving: deed === 'deletion' && index % 2 === 1,
    }));
    for (const { path } of [...this.#asking, this.#last]) this.#revisions.set(path, 0);
    this.requests = Math.ceil(this.#concerned.length * REQUESTS_PER_POD);
  }

  /** begin fills the store, puts Secrets of others in the way, and makes what has to be there before the deed. */
  static async begin(options: SecretCaseOptions): Promise<SecretCase> {
    const one = new SecretCase(options);
    await one.#prepare();
    return one;
  }

  async #prepare(): Promise<void> {
    const { admin, deed } = this.#options;
    await this.#put();
    await inParallel(
      this.#asking.filter(({ isTaken }) => isTaken),
      async ({ key }) => {
        const theirs = { metadata: key, data: { mine: Buffer.from('x').toString('base64') } };
        this.#foreign.set(keyString(key), await admin.create(Secret, theirs));
      },
    );
    if (deed === 'first sync') return;
    await this.#ask();
    await this.#until((found) => judge(found, this.#wanted(false)).length === 0);
  }

  isOwn({ resource, namespace, name }: Identified): boolean {
    const { key } = this.#options.store;
    if (resource === Secret.plural && namespace === key.namespace && name === key.name) return true;
    return (resource === Secret.plural || resource === Pod.plural) && name.startsWith(`${this.#options.name}-`);
  }

  async act(): Promise<void> {
    const { admin, deed } = this.#options;
    if (deed === 'first sync') await this.#ask();
    else if (deed === 'change') await this.#change([...this.#revisions.keys()]);
    else await inParallel(this.#concerned, ({ key }) => admin.delete(Pod, key));
  }

  async progress(): Promise<number> {
    const problems = judge(await this.#found(), this.#wanted());
    return Math.max(0, 1 - problems.length / this.#concerned.length);
  }

  async meanwhile(random: Random): Promise<void> {
    const { admin } = this.#options;
    const staying = this.#asking.filter(({ isTaken, isLeaving }) => !isTaken && !isLeaving);
    const { key, path } = pick(random, staying);
    const mischief: readonly (() => Promise<unknown>)[] = [
      () => admin.delete(Secret, key),
      () => admin.patch(Secret, key, { type: 'merge', body: { data: { drift: 'eWVz' } } }),
      // Nobody is told: whoever starts asks every source for its version.
      () => this.#bump([path]),
    ];
    this.#told += PODS_PER_SOURCE;
    // Not every Secret is there.
    await pick(random, mischief)().catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  async done(signal: AbortSignal): Promise<void> {
    await this.#until((found) => judge(found, this.#wanted()).length === 0, signal);
  }

  async problems(): Promise<readonly string[]> {
    // What is there may be the work of an earlier process: the last one has to have looked, too.
    await this.#ask([this.#last]);
    this.#asking.push(this.#last);
    await this.done(AbortSignal.timeout(PATIENCE_MS));
    const reads = await this.#options.store.reads(this.#beganAt);
    const most = this.#told + this.#revisions.size * MOST_READS_PER_SOURCE;
    return [
      ...judge(await this.#found(), this.#wanted()),
      ...(reads <= most ? [] : [`the store was read ${reads} times, and ${most} would do`]),
    ];
  }

  async end(): Promise<void> {
    const { admin, store } = this.#options;
    const gone = (error: unknown): void => {
      if (!isNotFound(error)) throw error;
    };
    await inParallel(this.#asking, ({ key }) => admin.delete(Pod, key).catch(gone));
    await store.put(new Map([...this.#revisions.keys()].map((path) => [path, undefined])));
    await inParallel(await this.#found(), ({ metadata: { namespace, name = '' } = {} }) =>
      admin.delete(Secret, { namespace, name }).catch(gone),
    );
  }

  async #ask(asking: readonly Asking[] = this.#asking): Promise<void> {
    const { admin } = this.#options;
    this.#told += asking.length;
    await inParallel(asking, ({ key, path, isLeaving }) =>
      admin.create(
        Pod,
        askingPod(key, { path, secretName: key.name, deletionPolicy: isLeaving ? 'Delete' : 'Retain' }),
      ),
    );
  }

  /** Sources get new values, and everybody is told. */
  async #change(paths: readonly string[]): Promise<void> {
    const { admin } = this.#options;
    await this.#bump(paths);
    this.#told += this.#asking.length;
    await inParallel(this.#asking, ({ key }) => {
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

  /** The pod that asks when everything else is done. */
  get #last(): Asking {
    const { name } = this.#options;
    const key = { namespace: namespaces[0] ?? '', name: `${name}-last` };
    return { key, path: `/${name}/last`, isTaken: false, isLeaving: false };
  }

  /** The pods whose Secrets the deed is about. */
  get #concerned(): readonly Asking[] {
    const leaving = this.#asking.filter(({ isLeaving }) => isLeaving);
    return leaving.length > 0 ? leaving : this.#asking.filter(({ isTaken }) => !isTaken);
  }

  /** What must be there after the deed, or before it. */
  #wanted(isAfter = true): ReadonlyMap<string, Wanted> {
    return new Map(
      this.#asking.map(({ key, path, isLeaving }): [string, Wanted] => {
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

  async #until(isSo: (found: readonly Secret[]) => boolean, signal?: AbortSignal): Promise<void> {
    const { admin } = this.#options;
    await untilList(admin, Secret, {}, (secrets) => isSo(this.#ours(secrets)), { timeoutMs: PATIENCE_MS, signal });
  }
}
