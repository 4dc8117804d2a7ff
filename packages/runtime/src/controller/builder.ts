import { type KubernetesObject, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { View, ViewOf } from '../cache/view.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { StatusOf } from '../resource/custom-resource.ts';
import { isQualified } from '../writing/finalizers.ts';
import type { ControllerOptions, ControllerStart, KeyedStart } from './builder-steps.ts';
import type { Reconcile } from './context.ts';
import type { Controller, ReportDeclaration, WorkOptions, WriteDeclaration } from './controller.ts';
import { allOf, type Predicate } from './predicates.ts';
import type { KnownKind, Source, SourceOf } from './sources.ts';
import type { TriggerDeclaration } from './trigger-stream.ts';
import type { NoWrites, OwningOptions, WriteKindOptions } from './write-types.ts';

/**
 * controller declares a controller that reconciles the objects of a kind. The declaration reads as a sentence, ends
 * with `reconcile`, and does nothing until a Manager runs it.
 *
 * @example
 * const copies = controller(ConfigMap, { labelSelector: 'copy-to' })
 *   .watches(Namespace, { view: 'metadata', map: (_, cache) => cache.list(ConfigMap).map(keyOf) })
 *   .when(labelsChanged('copy-to'))
 *   .reconcile(async ({ object, live, log }) => { … });
 */
export function controller<
  T extends KubernetesObject,
  Id extends string,
  V extends Exclude<View<T>, { readonly kind: 'trigger' }> = 'full',
  I extends string = never,
  R extends Resource<T, Id> = Resource<T, Id>,
>(
  kind: R & Resource<T, Id> & KnownKind<Id>,
  options: ControllerOptions<T, V, I> = {},
): ControllerStart<
  ViewOf<Resource<T, Id>, V>,
  { readonly [K in Id]: SourceOf<Resource<T, Id>, V, I> },
  NoWrites<StatusOf<R>>
> {
  const name = options.name ?? kind.kind.toLowerCase();
  const { finalizer, summarize = true } = options;
  const sources = [source('primary', kind, options as unknown as AnyOptions)];
  // The caller's types were checked by the signatures; inside the builder they are erased.
  return builder({
    name,
    work: options,
    finalizer,
    summarize,
    sources,
    triggers: [],
    owned: [],
    writes: [],
    reports: [],
  }) as never;
}

/**
 * keyed declares a controller whose keys are arbitrary strings that map functions return: for work that belongs to no
 * single object, such as one shared secret or a whole cluster.
 *
 * @example
 * const bundle = keyed('trust-bundle')
 *   .watches(ConfigMap, { labelSelector: 'bundle', view: 'metadata', map: () => ['bundle'] })
 *   .reconcile(async ({ list, live }) => { … });
 */
export function keyed(name: string, options: WorkOptions = {}): KeyedStart<NoWrites<never>> {
  const none = { sources: [], triggers: [], owned: [], writes: [], reports: [] };
  return builder({ name, work: options, finalizer: undefined, summarize: false, ...none }) as never;
}

/** Draft is an incomplete declaration. */
interface Draft {
  readonly name: string;
  readonly work: WorkOptions;
  readonly finalizer: string | undefined;
  readonly summarize: boolean;
  readonly sources: readonly Source[];
  readonly selects?: Controller['selects'];
  readonly triggers: readonly TriggerDeclaration[];
  /** The writes that owning implies; an explicit declaration of the same kind replaces them. */
  readonly owned: readonly WriteDeclaration[];
  readonly writes: readonly WriteDeclaration[];
  readonly reports: readonly ReportDeclaration[];
}

/** The builder itself is untyped: the steps are its types, and callers can reach nothing else. */
function builder(draft: Draft) {
  check(draft);
  const { sources, triggers, owned, writes, reports } = draft;
  const isKeyed = sources[0]?.role !== 'primary';
  const reads = (next: Source) => builder({ ...draft, sources: [...sources, next] });
  const alsoWrites =
    (verb: WriteDeclaration['verb']) =>
    (resource: Resource, options: WriteKindOptions = {}) => {
      const { remove = false, namespaces, names } = options;
      return builder({ ...draft, writes: [...writes, { verb, resource, remove, namespaces, names }] });
    };
  return {
    using: () => builder(draft),
    owns: (kind: Resource, options: AnyOptions & OwningOptions<boolean, boolean> = {}) =>
      builder({
        ...draft,
        sources: [...sources, source('owns', kind, options)],
        owned: [...owned, ...impliedWrites(draft.name, kind, options)],
      }),
    watches: (kind: Resource, options: AnyOptions) => reads(source('watches', kind, options, isKeyed)),
    triggeredBy: (name: string, keys: TriggerDeclaration['keys']) =>
      builder({ ...draft, triggers: [...triggers, { name, keys }] }),
    applies: alsoWrites('apply'),
    ensures: alsoWrites('ensure'),
    reports: (resource: Resource, { namespaces }: Pick<WriteKindOptions, 'namespaces'> = {}) =>
      builder({ ...draft, reports: [...reports, { resource, namespaces }] }),
    selects: (selects: Controller['selects']) => builder({ ...draft, selects }),
    when: (...predicates: readonly Predicate<unknown>[]) => {
      const [primary, ...others] = sources as [Source, ...Source[]];
      return builder({ ...draft, sources: [{ ...primary, when: allOf(primary.when, ...predicates) }, ...others] });
    },
    reconcile: (reconcile: Reconcile<never>) => {
      const finished = { ...finish(draft, reconcile), unusedFinalizer: draft.finalizer };
      return Object.freeze({
        ...finished,
        cleanup: (cleanup: Reconcile<never>): Controller =>
          Object.freeze({
            ...finished,
            unusedFinalizer: undefined,
            finalization: { finalizer: finalizerOf(draft), cleanup },
          }),
      });
    },
  };
}

/** impliedWrites returns the writes that owning a kind allows by itself. */
function impliedWrites(
  name: string,
  resource: Resource,
  { apply = true, remove = false, namespaces, names }: Pick<AnyOptions, 'namespaces'> & OwningOptions<boolean, boolean>,
): readonly WriteDeclaration[] {
  if (remove && !apply) {
    refuse(name, `it declares "remove: true" and "apply: false" for ${resource.kind}; omit "apply: false"`);
  }
  if (names && !apply) {
    refuse(
      name,
      `it declares "names" and "apply: false" for ${resource.kind}; "names" limits only writes, so omit one`,
    );
  }
  return apply ? [{ verb: 'apply', resource, remove, namespaces, names }] : [];
}

/**
 * allWrites adds the writes that owning implies to the declared ones. A kind that is both owned and declared is written
 * as declared.
 */
function allWrites({ owned, writes }: Draft): readonly WriteDeclaration[] {
  const removed = new Set(owned.filter(({ remove }) => remove).map(({ resource }) => resource.id));
  const declared = new Set(writes.map(({ resource }) => resource.id));
  return [
    ...owned.filter(({ resource }) => !declared.has(resource.id)),
    ...writes.map((write) => ({ ...write, remove: write.remove || removed.has(write.resource.id) })),
  ];
}

function finish(draft: Draft, reconcile: Reconcile<never>): Controller {
  const { name, work, sources, selects, triggers, reports, summarize } = draft;
  return {
    name,
    sources,
    selects,
    triggers,
    writes: allWrites(draft),
    reports,
    reconcile,
    summarize,
    finalization: undefined,
    work: {
      concurrency: work.concurrency ?? 1,
      timeoutMs: work.timeoutMs ?? 300_000,
      backoff: work.backoff ?? {},
      resyncMs: work.resyncMs ?? 36_000_000,
    },
  };
}

function finalizerOf(draft: Draft): string {
  const [primary] = draft.sources;
  const view = primary?.view;
  if (view !== 'full' && view !== 'metadata') {
    refuse(draft.name, 'a cleanup requires the view "full" or "metadata": the finalizer is stored in the metadata');
  }
  const finalizer = draft.finalizer ?? (primary?.resource.group ? `${primary.resource.group}/finalizer` : undefined);
  if (finalizer === undefined) {
    return refuse(draft.name, 'a cleanup of a core kind has no default finalizer: set "finalizer"');
  }
  if (!isQualified(finalizer)) {
    refuse(
      draft.name,
      `the finalizer ${JSON.stringify(finalizer)} must have the form domain/name, such as example.com/cleanup`,
    );
  }
  return finalizer;
}

/** AnyOptions holds the options of any source without their static types. */
interface AnyOptions
  extends Partial<Pick<Source, 'view' | 'namespaces' | 'labelSelector' | 'fieldSelector' | 'indexes'>> {
  readonly clusterWideOnly?: boolean | undefined;
  readonly as?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly when?: Predicate<unknown> | readonly Predicate<unknown>[] | undefined;
  readonly map?: (object: unknown, cache: never) => Iterable<ObjectKey | string>;
}

function source(role: Source['role'], kind: Resource, options: AnyOptions, keyedMap = false): Source {
  const {
    as,
    when = [],
    map,
    view,
    namespaces,
    labelSelector,
    fieldSelector,
    clusterWideOnly,
    indexes,
    optional,
  } = options;
  return {
    role,
    name: as ?? kind.id,
    resource: kind,
    view: view ?? 'full',
    namespaces,
    labelSelector,
    fieldSelector,
    clusterWideOnly: clusterWideOnly ?? false,
    // The types of the primary kind's options do not have it.
    optional: role !== 'primary' && (optional ?? false),
    indexes: indexes ?? {},
    when: typeof when === 'function' ? when : allOf(...when),
    map: map && (keyedMap ? (map as Source['map']) : keysOf(map)),
  };
}

function keysOf(map: NonNullable<AnyOptions['map']>): NonNullable<Source['map']> {
  return function* (object, cache) {
    for (const key of map(object, cache as never)) yield typeof key === 'string' ? key : keyString(key);
  };
}

function refuse(name: string, problem: string): never {
  throw new BowlineError('BOWLINE_CONTROLLER_INVALID', `cannot declare the controller "${name}": ${problem}`);
}

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

function check({ name, work, sources, triggers, owned, writes }: Draft): void {
  if (!DNS_LABEL.test(name)) {
    refuse(name, 'the name must be a DNS label (lower-case letters, digits and dashes, at most 63)');
  }
  const { concurrency = 1, timeoutMs = 1, resyncMs = 1 } = work;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    refuse(name, 'concurrency must be a whole number of at least 1');
  }
  if (!(timeoutMs > 0)) refuse(name, 'timeoutMs must be more than 0');
  if (resyncMs !== false && !(resyncMs > 0)) refuse(name, 'resyncMs must be more than 0, or false to disable it');
  const names = new Set<string>();
  for (const each of sources) {
    if (names.has(each.name)) {
      refuse(name, `${each.name} is declared twice; name one of them with "as"`);
    }
    names.add(each.name);
  }
  const triggerNames = new Set<string>();
  for (const trigger of triggers) {
    if (!DNS_LABEL.test(trigger.name)) {
      refuse(name, `the name of the trigger ${JSON.stringify(trigger.name)} must be a DNS label`);
    }
    if (triggerNames.has(trigger.name)) refuse(name, `the trigger ${trigger.name} is declared twice`);
    triggerNames.add(trigger.name);
  }
  for (const { resource, names: writable } of [...owned, ...writes]) {
    if (writable?.length === 0) {
      refuse(
        name,
        `the "names" of ${resource.kind} are empty, so nothing could be written; list the names, or omit it`,
      );
    }
  }
  const written = new Set<string>();
  for (const { verb, resource } of writes) {
    const id = `${verb} ${resource.id}`;
    if (written.has(id))
      refuse(name, `it declares .${verb === 'apply' ? 'applies' : 'ensures'}(${resource.kind}) twice`);
    written.add(id);
  }
}
