import { ConfigMapSync } from '@bowline/configmap-sync';
import { until, untilGone } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { pick, type Random } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { type Client, isInvalid, isNotFound } from '@bowline/runtime/client';
import type { Identified } from '../../fingerprint.ts';
import { inParallel } from '../../in-parallel.ts';
import type { CrashCase } from '../../scenario.ts';
import { backupName, type Content, type CopyState, judge } from './judge.ts';
import { COPIES, HALF, SOURCES } from './world.ts';

/** Every n-th namespace already has a ConfigMap at the place of the copy. */
const ADOPTED_EVERY = 10;
/** Some of those have a ConfigMap of another owner at the place of the backup. */
const OCCUPIED_EVERY = 30;
/** Every n-th copy is made immutable, and has to be recreated to be changed. */
const IMMUTABLE_EVERY = 15;
/** Adopting takes a read, a backup and a write. */
const REQUESTS_TO_ADOPT = 3;
const TIMEOUT_MS = 180_000;

/** ActionRules defines an action and the expected state after it. */
interface ActionRules {
  /** Whether the copies exist before. */
  readonly isSynced: boolean;
  /** Defaults to Delete. */
  readonly deletionPolicy?: 'Orphan';
  /** The expected state of the copies: in every other namespace, and in the rest. */
  readonly leaves: readonly [CopyState, CopyState];
  act(one: Acting): Promise<unknown>;
}

/** Acting provides what actions need. */
interface Acting {
  create(): Promise<unknown>;
  edit(): Promise<unknown>;
  select(label: string): Promise<unknown>;
  delete(): Promise<unknown>;
}

const ACTIONS: Readonly<Record<string, ActionRules>> = {
  'fan-out': { isSynced: false, leaves: ['synced', 'synced'], act: (one) => one.create() },
  deletion: { isSynced: true, leaves: ['gone', 'gone'], act: (one) => one.delete() },
  change: { isSynced: true, leaves: ['synced', 'synced'], act: (one) => one.edit() },
  deselection: { isSynced: true, leaves: ['synced', 'gone'], act: (one) => one.select(HALF) },
  orphaning: { isSynced: true, deletionPolicy: 'Orphan', leaves: ['released', 'released'], act: (one) => one.delete() },
};

/** actions lists the actions during which the operator is killed. */
export const actions: readonly string[] = Object.keys(ACTIONS);

/** SyncCaseOptions configures a case. */
export interface SyncCaseOptions {
  readonly admin: Client;
  /** The namespaces of the copies. */
  readonly namespaces: readonly string[];
  readonly action: string;
  /** The name of everything that the case creates. */
  readonly name: string;
}

/** SyncCase is one source, its ConfigMapSync and their copies, from creation to deletion. */
export class SyncCase implements CrashCase, Acting {
  readonly requests: number;
  readonly #admin: Client;
  readonly #namespaces: readonly string[];
  readonly #name: string;
  readonly #rules: ActionRules;
  readonly #states: ReadonlyMap<string, CopyState>;
  /** The namespaces that keep a copy. */
  readonly #staying: readonly string[];
  readonly #before = new Map<string, ConfigMap>();
  readonly #occupied = new Map<string, ConfigMap>();
  #revision = 0;
  #source: ConfigMap = {};

  private constructor({ admin, namespaces, action, name }: SyncCaseOptions) {
    const rules = ACTIONS[action];
    if (!rules) throw new TypeError(`unknown action ${action}`);
    this.#admin = admin;
    this.#namespaces = namespaces;
    this.#name = name;
    this.#rules = rules;
    this.#states = new Map(namespaces.map((namespace, index) => [namespace, rules.leaves[index % 2 === 0 ? 0 : 1]]));
    this.#staying = namespaces.filter((namespace) => this.#states.get(namespace) === 'synced');
    const adopted = rules.isSynced ? 0 : this.#every(ADOPTED_EVERY).length;
    this.requests = this.#concerned + REQUESTS_TO_ADOPT * adopted;
  }

  /** begin creates the source, objects in the way of its copies, and the other prerequisites of the action. */
  static async begin(options: SyncCaseOptions): Promise<SyncCase> {
    const one = new SyncCase(options);
    await one.#prepare();
    return one;
  }

  async #prepare(): Promise<void> {
    const admin = this.#admin;
    const name = this.#name;
    this.#source = await admin.create(ConfigMap, { metadata: this.#key, ...this.#content });
    await inParallel(this.#every(ADOPTED_EVERY), async (namespace) => {
      const mine = { metadata: { namespace, name }, data: { mine: `of ${namespace}` } };
      this.#before.set(namespace, await admin.create(ConfigMap, mine));
    });
    await inParallel(this.#every(OCCUPIED_EVERY), async (namespace) => {
      const theirs = { metadata: { namespace, name: backupName(name) }, data: { theirs: 'x' } };
      this.#occupied.set(namespace, await admin.create(ConfigMap, theirs));
    });
    if (!this.#rules.isSynced) return;
    await this.create();
    await this.#untilReady(this.#namespaces.length);
    const immutable = this.#every(IMMUTABLE_EVERY).filter((namespace) => !this.#before.has(namespace));
    await inParallel(immutable, (namespace) =>
      admin.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { immutable: true } }),
    );
  }

  isOwn({ resource, name }: Identified): boolean {
    if (resource === 'configmaps') return this.#isNamed(name);
    return resource === `${ConfigMapSync.plural}.${ConfigMapSync.group}` && name === this.#name;
  }

  async act(): Promise<void> {
    await this.#rules.act(this);
  }

  create(): Promise<unknown> {
    const sync = ConfigMapSync.withDefaults({
      metadata: this.#key,
      spec: {
        sourceNamespace: SOURCES,
        configMapName: this.#name,
        destinationSelector: { matchLabels: { [COPIES]: 'true' } },
        deletionPolicy: this.#rules.deletionPolicy,
      },
    });
    return this.#admin.create(ConfigMapSync, sync);
  }

  async edit(): Promise<void> {
    this.#revision++;
    this.#source = await this.#admin.patch(ConfigMap, this.#key, { type: 'merge', body: this.#content });
  }

  select(label: string): Promise<unknown> {
    const body = { spec: { destinationSelector: { matchLabels: { [label]: 'true' } } } };
    return this.#admin.patch(ConfigMapSync, this.#key, { type: 'merge', body });
  }

  delete(): Promise<unknown> {
    return this.#admin.delete(ConfigMapSync, this.#key);
  }

  async progress(): Promise<number> {
    const failing = new Set((await this.problems()).map((problem) => problem.split(':')[0]));
    return Math.max(0, 1 - failing.size / this.#concerned);
  }

  async meanwhile(random: Random): Promise<void> {
    // Released copies are not repaired: other clients may change them, and nothing could be checked here.
    if (this.#staying.length === 0) return;
    const admin = this.#admin;
    const created = this.#staying.filter((namespace) => !this.#before.has(namespace));
    const copy = { namespace: pick(random, created), name: this.#name };
    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => Promise.resolve(),
      () => admin.delete(ConfigMap, copy),
      () => admin.patch(ConfigMap, copy, { type: 'merge', body: { data: { drift: 'yes' } } }),
    ];
    // Some copies do not exist, and immutable ones cannot be edited.
    await pick(random, disturbances)().catch((error: unknown) => {
      if (!isNotFound(error) && !isInvalid(error)) throw error;
    });
    // Last, so that an operator that has processed it has seen the rest too.
    await this.edit();
  }

  async done(signal: AbortSignal): Promise<void> {
    if (this.#staying.length > 0) await this.#untilReady(this.#staying.length, signal);
    else await untilGone(this.#admin, ConfigMapSync, this.#key, { timeoutMs: TIMEOUT_MS, signal });
  }

  async problems(): Promise<readonly string[]> {
    return judge(await this.#found(), {
      name: this.#name,
      content: this.#content,
      copies: this.#states,
      before: this.#before,
      occupied: this.#occupied,
    });
  }

  async end(): Promise<void> {
    if (this.#staying.length > 0) {
      await this.delete();
      await untilGone(this.#admin, ConfigMapSync, this.#key, { timeoutMs: TIMEOUT_MS });
    }
    await this.#admin.delete(ConfigMap, this.#key);
    await inParallel(await this.#found(), ({ metadata: { namespace, name = '' } = {} }) =>
      this.#admin.delete(ConfigMap, { namespace, name }),
    );
  }

  /** The key of the source and of its ConfigMapSync. */
  get #key(): { readonly namespace: string; readonly name: string } {
    return { namespace: SOURCES, name: this.#name };
  }

  /** About the size of a typical ConfigMap. */
  get #content(): Required<Content> {
    const blob = Buffer.from(`blob ${this.#revision}`).toString('base64');
    return {
      data: { revision: `r${this.#revision}`, text: `${this.#revision} `.repeat(200) },
      binaryData: { blob },
    };
  }

  /** The number of copies that the action affects. */
  get #concerned(): number {
    const others = this.#namespaces.length - this.#staying.length;
    return others === 0 ? this.#namespaces.length : others;
  }

  #every(count: number): readonly string[] {
    return this.#namespaces.filter((_, index) => index % count === 0);
  }

  #isNamed(name: string): boolean {
    return name === this.#name || name.startsWith(backupName(this.#name));
  }

  /** All ConfigMaps of this case in the namespaces of the copies. */
  async #found(): Promise<readonly ConfigMap[]> {
    const { items } = await this.#admin.list(ConfigMap);
    return items.filter(({ metadata }) => this.#isNamed(metadata?.name ?? '') && metadata?.namespace !== SOURCES);
  }

  /** Waits until the operator reports that all copies equal the current source. */
  async #untilReady(copies: number, signal?: AbortSignal): Promise<void> {
    const isReady = (sync: ConfigMapSync): boolean => {
      const ready = findCondition(sync, 'Ready');
      return (
        ready?.status === 'True' &&
        ready.observedGeneration === sync.metadata?.generation &&
        sync.status?.sourceResourceVersion === this.#source.metadata?.resourceVersion &&
        sync.status?.syncedCount === copies
      );
    };
    await until(this.#admin, ConfigMapSync, this.#key, isReady, { timeoutMs: TIMEOUT_MS, signal });
  }
}
