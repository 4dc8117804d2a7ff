import type { KubernetesObject, ObjectKey } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { isAlreadyExists, isConflict, isNotFound } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { WriteTools } from '../writing/write-client.ts';
import { type Content, contentIn, keysIn, losesContent, type StringMap } from './content.ts';
import { type Applied, changedContent, keptMetadata, newBody, patchBody, replacedContent } from './content-bodies.ts';
import { formatKeys, parseKeys } from './content-keys.ts';
import type { ContentView } from './content-view.ts';
import type { DesiredContent, ManagedContent } from './managed-content.ts';
import { type MergedContent, mergeContent } from './merge-content.ts';
import { type ContentPlan, type ContentPolicy, planContent, type StopReason } from './plan-content.ts';
import { saveContent } from './save-content.ts';

/** ContentTools holds what `ensure` needs of a run. */
export interface ContentTools extends WriteTools {
  /**
   * lookUp returns the state of an object in a cache with the view of the content; undefined when no cache can decide,
   * so that the API server is queried. `labels` are those that the object is about to get: it throws if the cache would
   * not select such an object.
   */
  readonly lookUp: (content: AnyContent, key: ObjectKey, labels: StringMap) => { readonly view: unknown } | undefined;
}

/** AnyContent is the part of a ManagedContent that is needed to find its cache. */
export type AnyContent = Pick<ManagedContent<KubernetesObject, string, string, string>, 'resource'> & {
  readonly view: object;
};

/** ObservedObject is an object as it was found: `live` is the whole object, if it was read. */
export interface ObservedObject<T, V> {
  /** Undefined: the object does not exist. */
  readonly view: V | undefined;
  readonly live?: T | undefined;
}

/** EnsureOptions holds the policy, and the known state of the object. */
export interface EnsureOptions<T, V, O = never> extends ContentPolicy<V, O> {
  /**
   * The state that the caller decided on. Defaults to the state in the cache; if that is not enough, the object is
   * read.
   */
  readonly observed?: ObservedObject<T, V> | undefined;
  /**
   * How often a write is attempted when the object turns out to be in another state; 1 means no retry. Defaults to 5.
   */
  readonly attempts?: number | undefined;
}

/** Ensured is the result of `ensure`. */
export interface Ensured<T, V, O = never> {
  /**
   * - `created`, `recreated` (it was immutable), `adopted` (it was not ours);
   * - `updated`: its content was outdated; `repaired`: another client had changed it;
   * - `marked`: only labels or annotations were written;
   * - `unchanged`: it is as desired, no request was sent;
   * - `stopped`: it was not changed, see `stop`.
   */
  readonly outcome: 'created' | 'recreated' | 'adopted' | 'updated' | 'repaired' | 'marked' | 'unchanged' | 'stopped';
  /** Why the object was not changed; set for `stopped`. */
  readonly stop?: ContentStop<O> | undefined;
  /** Keys to which other clients gave other values and that stay as they are, when keys are merged. Sorted. */
  readonly conflicts: readonly string[];
  /** The object before the write; undefined when it did not exist. */
  readonly before: V | undefined;
  /** The object as the API server stored it; undefined when nothing was written. */
  readonly object?: T | undefined;
  /** The hash of the content that we wrote last, and when that was. */
  readonly hash: string | undefined;
  readonly writtenAt: string | undefined;
}

/** ContentStop holds why an object is not changed. */
export interface ContentStop<O = never> {
  readonly reason: StopReason;
  /** The value that `claim` returned; set for the reason `refused`. */
  readonly refused?: O | undefined;
  /** The conflicting keys of other clients; set for the reason `keys`. */
  readonly keys?: readonly string[] | undefined;
}

const MAX_ATTEMPTS = 5;

/**
 * ensureContent brings the content of one object to the desired state. For most objects the cache is enough: one
 * request, or none. Whenever the object turns out to be in another state, it is read and everything is decided again.
 * Every write of a stored object carries its uid and resourceVersion.
 */
export async function ensureContent<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object,
  O = never,
>(
  tools: ContentTools,
  content: ManagedContent<T, Id, K, M, X>,
  key: ObjectKey,
  desired: DesiredContent<K, M>,
  options: EnsureOptions<T, ContentView<M> & X, O>,
): Promise<Ensured<T, ContentView<M> & X, O>> {
  return new ContentWrite(tools, content, key, desired, options).run();
}

class ContentWrite<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object,
  O,
> {
  readonly #tools: ContentTools;
  readonly #content: ManagedContent<T, Id, K, M, X>;
  readonly #key: ObjectKey;
  readonly #desired: DesiredContent<K, M>;
  readonly #options: EnsureOptions<T, ContentView<M> & X, O>;

  constructor(
    tools: ContentTools,
    content: ManagedContent<T, Id, K, M, X>,
    { namespace, name }: ObjectKey,
    desired: DesiredContent<K, M>,
    options: EnsureOptions<T, ContentView<M> & X, O>,
  ) {
    this.#tools = tools;
    this.#content = content;
    this.#key = { namespace, name };
    this.#desired = desired;
    this.#options = options;
  }

  async run(): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { observed: given, attempts = MAX_ATTEMPTS } = this.#options;
    let observed = given ?? this.#cached() ?? (await this.#read());
    for (let attempt = 1; ; ) {
      try {
        const result = await this.#execute(observed);
        if (result) return result;
      } catch (error) {
        if (!isOutdated(error, observed.view) || attempt++ >= attempts) throw error;
      }
      observed = await this.#read();
    }
  }

  #cached(): ObservedObject<T, ContentView<M> & X> | undefined {
    // The cache was found by the view, so it holds values of this type.
    return this.#tools.lookUp(this.#content, this.#key, this.#desired.labels) as
      | ObservedObject<T, ContentView<M> & X>
      | undefined;
  }

  async #read(): Promise<ObservedObject<T, ContentView<M> & X>> {
    const { live, signal } = this.#tools;
    const object = await live.find(this.#content.resource, this.#key, { signal });
    return { view: object && this.#content.viewOf(object), live: object };
  }

  #plan(view: (ContentView<M> & X) | undefined, desired: DesiredContent<K, M>): ContentPlan<O> {
    return planContent(this.#content, view, desired, this.#options);
  }

  /** execute carries out the plan, and returns undefined if it needs the content of the object. */
  async #execute({
    view,
    live,
  }: ObservedObject<T, ContentView<M> & X>): Promise<Ensured<T, ContentView<M> & X, O> | undefined> {
    const plan = this.#plan(view, this.#desired);
    if (!view || plan.step === 'create') return this.#create('created', this.#whole());
    switch (plan.step) {
      case 'keep':
        return this.#untouched('unchanged', view);
      case 'stop':
        return { ...this.#untouched('stopped', view), stop: plan };
      case 'mark':
        return this.#patchMetadata(view, this.#desired.content && this.#whole());
      case 'adopt':
        return live && this.#adopt(view, live);
      case 'recreate':
        if (!live) return undefined;
        return this.#isMerged(view) ? this.#merge(view, live, 'recreated') : this.#recreate(view, live, this.#whole());
      case 'write': {
        const outcome = plan.cause === 'drift' ? 'repaired' : 'updated';
        if (this.#isMerged(view)) return live && this.#merge(view, live, outcome);
        const applied = this.#whole();
        return this.#patch(view, applied, replacedContent(applied.content, view.filledMaps), { outcome });
      }
    }
  }

  #isGuest(view: ContentView<M> & X): boolean {
    return this.#options.claim(view) === 'guest';
  }

  #isMerged(view: ContentView<M> & X): boolean {
    return this.#options.keys === 'written' || this.#isGuest(view);
  }

  /** Returns the whole desired content, as an object gets it when every key is ours. */
  #whole(): Applied & { readonly content: Content<K> } {
    const { content, hash, keyList } = this.#desired;
    if (content && hash !== undefined) return { content, hash, keyList };
    throw new BowlineError(
      'BOWLINE_WRITE_INVALID',
      `cannot ensure ${describeKey(this.#content.resource, this.#key)}: it must be written, but its content is missing; pass the content to desired()`,
    );
  }

  async #merge(
    view: ContentView<M> & X,
    live: T,
    outcome: 'updated' | 'repaired' | 'recreated',
  ): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { maps } = this.#content;
    const stored = contentIn(maps, live);
    const isGuest = this.#isGuest(view);
    const ours = this.#keysIn(live, stored, isGuest);
    const { content: wanted } = this.#whole();
    if (isGuest) {
      const keys = foreignKeys(stored, wanted, ours);
      if (keys.length > 0) return { ...this.#untouched('stopped', view), stop: { reason: 'keys', keys } };
    }
    const merged = mergeContent(stored, wanted, { ours, wins: this.#options.force ?? false });
    const applied = this.#applied(merged, isGuest);
    const { conflicts } = merged;
    // Apart from the conflicts it may already be as desired.
    const { step } = this.#plan(view, { ...this.#desired, hash: applied.hash });
    if (step === 'keep') return { ...this.#untouched('unchanged', view), conflicts };
    if (step === 'mark') return { ...(await this.#patchMetadata(view, applied)), conflicts };
    if (outcome === 'recreated') {
      // Between the deletion and the creation, keys of other clients exist nowhere else.
      await saveContent(this.#tools, this.#content, live);
      return { ...(await this.#recreate(view, live, applied)), conflicts };
    }
    const changes = changedContent(stored, merged.content);
    return { ...(await this.#patch(view, applied, changes, { outcome })), conflicts };
  }

  /**
   * Returns the keys that we wrote. Without a list of keys these are all keys of an object of ours, and none of any
   * other object.
   */
  #keysIn({ metadata }: T, stored: Content<K>, isGuest: boolean): ReadonlySet<string> {
    const listed = parseKeys(metadata?.annotations?.[this.#content.annotations.keys]);
    return listed ?? new Set(isGuest ? [] : keysIn(stored));
  }

  #applied({ content, applied }: MergedContent<K>, isGuest: boolean): Applied {
    // Without its list a guest would lose track of its keys: it is better that the API server rejects a list that is
    // too long.
    const keyList = formatKeys(keysIn(applied), isGuest ? Number.POSITIVE_INFINITY : undefined);
    return { content, hash: this.#content.hash(applied), keyList };
  }

  async #adopt(view: ContentView<M> & X, live: T): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { maps, annotations } = this.#content;
    if (annotations.adopted === undefined) {
      throw new BowlineError(
        'BOWLINE_WRITE_INVALID',
        `cannot adopt ${describeKey(this.#content.resource, this.#key)}: its format has no annotation "adopted"; add one to the annotations of managedContent()`,
      );
    }
    const stored = contentIn(maps, live);
    const whole = this.#whole();
    // A user who requests adoption also requests these keys: their previous values are saved.
    const applied =
      this.#options.keys === 'written'
        ? this.#applied(mergeContent(stored, whole.content, { ours: new Set(), wins: true }), false)
        : whole;
    if (losesContent(stored, applied.content as Content<K>)) await saveContent(this.#tools, this.#content, live);
    const content = view.hash === whole.hash ? undefined : replacedContent(applied.content, view.filledMaps);
    return this.#patch(view, applied, content, { outcome: 'adopted', adopts: true });
  }

  /** If it is interrupted between the two requests, the next run finds no object and creates it. */
  async #recreate(view: ContentView<M> & X, live: T, applied: Applied): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { uid, resourceVersion } = view;
    const kept = keptMetadata(this.#content, live.metadata ?? {}, view);
    const { live: client, signal } = this.#tools;
    await client.delete(this.#content.resource, this.#key, { preconditions: { uid, resourceVersion }, signal });
    return this.#create('recreated', applied, { before: view, kept });
  }

  async #create(
    outcome: 'created' | 'recreated',
    applied: Applied,
    { before, kept }: { before?: ContentView<M> & X; kept?: ReturnType<typeof keptMetadata> } = {},
  ): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { live, clock, fieldManager, signal } = this.#tools;
    const at = formatTime(clock.now());
    const body = newBody(this.#content, this.#key, this.#desired, applied, { at, kept }) as T;
    const object = await live.create(this.#content.resource, body, { fieldManager, signal });
    return { outcome, before, object, conflicts: [], hash: applied.hash, writtenAt: at };
  }

  #patchMetadata(view: ContentView<M> & X, applied: Applied | undefined): Promise<Ensured<T, ContentView<M> & X, O>> {
    return this.#patch(view, applied, undefined, { outcome: 'marked' });
  }

  async #patch(
    view: ContentView<M> & X,
    applied: Applied | undefined,
    content: object | undefined,
    { outcome, adopts }: { outcome: 'adopted' | 'updated' | 'repaired' | 'marked'; adopts?: boolean },
  ): Promise<Ensured<T, ContentView<M> & X, O>> {
    const { live, clock, fieldManager, signal } = this.#tools;
    const at = formatTime(clock.now());
    const options = { at, content, adopts, isGuest: this.#isGuest(view) };
    const body = patchBody(this.#content, view, this.#desired, applied, options);
    const patch = { type: 'strategic', body } as const;
    const object = await live.patch(this.#content.resource, this.#key, patch, { fieldManager, signal });
    const hash = applied ? applied.hash : view.appliedHash;
    return { outcome, before: view, object, conflicts: [], hash, writtenAt: content ? at : (view.writtenAt ?? at) };
  }

  #untouched(outcome: 'unchanged' | 'stopped', before: ContentView<M> & X): Ensured<T, ContentView<M> & X, O> {
    return { outcome, before, conflicts: [], hash: before.appliedHash, writtenAt: before.writtenAt };
  }
}

/** A guest replaces no key of the owner, not even with the same value: otherwise we would remove it later. */
function foreignKeys<K extends string>(
  stored: Content<K>,
  wanted: Content<K>,
  ours: ReadonlySet<string>,
): readonly string[] {
  const desired = new Set(keysIn(wanted));
  return keysIn(stored).filter((key) => desired.has(key) && !ours.has(key));
}

/** isOutdated reports whether an error means that the object is not in the state that was decided on. */
function isOutdated(error: unknown, view: object | undefined): boolean {
  return isConflict(error) || isAlreadyExists(error) || (view !== undefined && isNotFound(error));
}
