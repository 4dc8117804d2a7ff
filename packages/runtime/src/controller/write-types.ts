import type { KubernetesObject, ObjectKey, ObjectOf, Resource } from '@bowline/kubernetes';
import type { ContentView } from '../content/content-view.ts';
import type { Ensured, EnsureOptions } from '../content/ensure-content.ts';
import type { DesiredContent, ManagedContent } from '../content/managed-content.ts';
import type { ReleaseContentOptions, ReleasedContent } from '../content/release-content.ts';
import type { WrittenOf } from '../resource/custom-resource.ts';
import type { EventMessage, EventSubject } from '../writing/event.ts';
import type { WriteResult } from '../writing/guarded-apply.ts';
import type { RemoveResult } from '../writing/guarded-delete.ts';
import type { ApplyOptions, OwnershipOptions, RemoveOptions } from '../writing/writer.ts';
import type { StatusCollector } from './status-collector.ts';

/**
 * WriteTypes is what is statically known about a controller's writes: the ids of kinds, and the type of the primary's
 * status.
 */
export interface WriteTypes {
  readonly applies: string;
  readonly ensures: string;
  readonly removes: string;
  readonly reports: string;
  readonly status: unknown;
}

/** NoWrites is the type of a controller that has declared no writes yet. */
export interface NoWrites<Status> {
  readonly applies: never;
  readonly ensures: never;
  readonly removes: never;
  readonly reports: never;
  readonly status: Status;
}

/** WriteKindOptions configures what is done with a written kind. */
export interface WriteKindOptions {
  /** Whether objects are also deleted, with `ctx.remove`. Defaults to false. */
  readonly remove?: boolean | undefined;
  /** Only in these namespaces. Defaults to all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Only objects with these names, to which the rights are then limited. Defaults to all. */
  readonly names?: readonly string[] | undefined;
}

type Removing<W extends WriteTypes, Id, O> = W['removes'] | (O extends { readonly remove: true } ? Id : never);

/** OwningOptions configures what is done with owned objects beyond watching them. */
export interface OwningOptions<Apply extends boolean, Remove extends boolean> {
  /**
   * Whether `ctx.apply` writes them. False for objects that are only watched, or written with `ctx.ensure`. Defaults to
   * true.
   */
  readonly apply?: Apply | undefined;
  /** Whether objects are also deleted, with `ctx.remove`. Defaults to false. */
  readonly remove?: Remove | undefined;
  /**
   * Only objects with these names are written, and the rights to write are limited to them. All owned objects are still
   * watched. Defaults to all.
   */
  readonly names?: readonly string[] | undefined;
}

/** Owning is `W` plus an owned kind. */
export interface Owning<W extends WriteTypes, Id extends string, Apply, Remove> {
  readonly applies: W['applies'] | (Apply extends true ? Id : never);
  readonly ensures: W['ensures'];
  readonly removes: W['removes'] | (Remove extends true ? Id : never);
  readonly reports: W['reports'];
  readonly status: W['status'];
}

/** Applying is `W` plus an applied kind. */
export interface Applying<W extends WriteTypes, Id extends string, O> {
  readonly applies: W['applies'] | Id;
  readonly ensures: W['ensures'];
  readonly removes: Removing<W, Id, O>;
  readonly reports: W['reports'];
  readonly status: W['status'];
}

/** Ensuring is `W` plus an ensured kind. */
export interface Ensuring<W extends WriteTypes, Id extends string, O> {
  readonly applies: W['applies'];
  readonly ensures: W['ensures'] | Id;
  readonly removes: Removing<W, Id, O>;
  readonly reports: W['reports'];
  readonly status: W['status'];
}

/** Reporting is `W` plus a kind that events are sent about. */
export interface Reporting<W extends WriteTypes, Id extends string> {
  readonly applies: W['applies'];
  readonly ensures: W['ensures'];
  readonly removes: W['removes'];
  readonly reports: W['reports'] | Id;
  readonly status: W['status'];
}

/** EventAboutFor sends events about the kinds that are declared with `reports`. */
export type EventAboutFor<Reports> = [Reports] extends [never]
  ? { readonly unavailable: 'declare the kind that events are about with .reports(Kind)' }
  : (subject: EventSubject, type: EventMessage['type'], reason: string, message: string) => void;

/** StatusFor collects the status of a kind that has one. */
export type StatusFor<Status> = [Status] extends [never]
  ? { readonly unavailable: 'the kind has no status: add one to its defineResource' }
  : StatusCollector<Status>;

/**
 * OrElse is the declared ids, or if there are none a text that explains what to declare: an error about `never` would
 * not.
 */
type OrElse<Ids extends string, Otherwise extends string> = [Ids] extends [never] ? Otherwise : Ids;

/** ContentVerbs write content under names that users chose. */
export interface ContentVerbs<Ids extends string = string> {
  /**
   * ensure brings the content of an object to the desired state: it creates the object, or changes what differs.
   * Objects of other clients are taken over only on request, after a backup, and are recognised later. It sends no
   * request when nothing would change, even after a restart.
   */
  ensure<
    T extends KubernetesObject,
    Id extends Ids,
    K extends string,
    M extends string,
    X extends object = object,
    O = never,
  >(
    content: ManagedContent<T, Id, K, M, X>,
    key: ObjectKey,
    desired: DesiredContent<K, M>,
    options: EnsureOptions<T, ContentView<M> & X, O>,
  ): Promise<Ensured<T, ContentView<M> & X, O>>;
  /**
   * release gives up an object: it deletes the object, or removes our labels and annotations. An adopted object is
   * never deleted.
   */
  release<T extends KubernetesObject, Id extends Ids, K extends string, M extends string, X extends object = object>(
    content: ManagedContent<T, Id, K, M, X>,
    view: ContentView<M> & X,
    options: ReleaseContentOptions<ContentView<M> & X>,
  ): Promise<ReleasedContent>;
}

/**
 * ContextWrites writes the kinds that the controller declared; other kinds do not compile. No request is sent when
 * nothing would change.
 */
export interface ContextWrites<W extends WriteTypes>
  extends ContentVerbs<OrElse<W['ensures'], 'no kind: declare .ensures(Kind)'>> {
  /**
   * apply creates or updates a child whose name we chose: by forced server-side apply, owned by the primary object. If
   * the object exists and is not ours, it throws BOWLINE_FOREIGN_OBJECT.
   */
  apply<R extends Resource<KubernetesObject, OrElse<W['applies'], 'no kind: declare .owns(Kind) or .applies(Kind)'>>>(
    kind: R,
    desired: WrittenOf<R>,
    options?: ApplyOptions,
  ): Promise<WriteResult<ObjectOf<R>>>;
  /**
   * createOnce creates a child whose content must never be written again, such as a generated password. `make` is
   * called only when none exists. If the object exists and is not ours, it throws BOWLINE_FOREIGN_OBJECT.
   */
  createOnce<
    R extends Resource<KubernetesObject, OrElse<W['applies'], 'no kind: declare .owns(Kind) or .applies(Kind)'>>,
  >(
    kind: R,
    key: ObjectKey,
    make: () => WrittenOf<R> | Promise<WrittenOf<R>>,
    options?: OwnershipOptions,
  ): Promise<WriteResult<ObjectOf<R>>>;
  /** remove deletes an object if it is ours. Its kind must be declared with `remove: true`. */
  remove<R extends Resource<KubernetesObject, OrElse<W['removes'], 'no kind: declare one with { remove: true }'>>>(
    kind: R,
    key: ObjectKey,
    options?: RemoveOptions,
  ): Promise<RemoveResult>;
}
