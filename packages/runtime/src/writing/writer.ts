import { apiVersionOf, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { builtInShape, type FieldShape } from '@bowline/machinery';
import type { DeleteOptions } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { checkDesired } from './check-desired.ts';
import { type ApplyTools, guardedApply, type WriteResult } from './guarded-apply.ts';
import { guardedCreate, type WriteCheck } from './guarded-create.ts';
import { guardedDelete, type RemoveResult } from './guarded-delete.ts';
import { canOwn, relationTo } from './owner-reference.ts';
import { hasOwnership, type Ownership, type OwnershipGuard, withOwnership } from './ownership.ts';
import type { Lookup, WriteClient } from './write-client.ts';
import { WriteMemo } from './write-memo.ts';

/** WriterOptions configures a writer. */
export interface WriterOptions {
  readonly client: WriteClient;
  /** The owner of the written fields; see `fieldManagerOf`. */
  readonly fieldManager: string;
  /**
   * How `apply` and `remove` distinguish our objects from others, unless a call passes others. An owner that
   * cannot own an object, because it is in another namespace, is omitted if labels are set.
   */
  readonly ownership?: Ownership | undefined;
  /** Reads from a cache. Defaults to none: each write then begins with a read. */
  readonly lookup?: Lookup | undefined;
  /** Shared by all writers of a field manager. Defaults to a new one. */
  readonly writeMemo?: WriteMemo | undefined;
  /**
   * The shape of a custom resource, for comparing values that the server completes: `customShape(schema)`, the same
   * value every time. Defaults to the shapes of the built-in kinds only.
   */
  readonly shapeOf?: ((resource: Resource) => FieldShape | undefined) | undefined;
  /** check rejects, by throwing, an object that is about to be written. Defaults to accepting all. */
  readonly check?: WriteCheck | undefined;
  /** Defaults to a silent log. */
  readonly log?: Log | undefined;
  /** Cancels every request. */
  readonly signal?: AbortSignal | undefined;
}

/** OwnershipOptions configures who an object belongs to. Both fields default to the writer's. */
export interface OwnershipOptions extends Omit<Ownership, 'owner'> {
  /** Null writes no owner reference, so that the object outlives the primary one; `labels` then mark it as ours. */
  readonly owner?: Ownership['owner'] | null;
}

/** ApplyOptions configures one apply. */
export interface ApplyOptions extends OwnershipOptions {
  /**
   * Let the API server check the write without storing it: its errors are those of the write, and the outcome is what
   * the write would do. No request is sent when nothing would change. Defaults to false.
   */
  readonly dryRun?: boolean | undefined;
}

/** RemoveOptions selects the object to remove and configures its deletion. */
export interface RemoveOptions extends Ownership, Pick<DeleteOptions, 'gracePeriodSeconds'> {
  /** Whether a stored object is ours. Defaults to whether it carries the owner or the labels. */
  readonly isOurs?: OwnershipGuard | undefined;
  /** Remove only the object with this uid. Defaults to the one that exists. */
  readonly uid?: string | undefined;
  /** What happens to its dependents. Defaults to Background. */
  readonly propagationPolicy?: DeleteOptions['propagationPolicy'];
}

/** Writer writes objects under one field manager. Its functions need no `this`. */
export interface Writer {
  /**
   * apply creates or updates an object whose name we chose, by forced server-side apply. An existing object must carry
   * our owner reference or labels, else it throws BOWLINE_FOREIGN_OBJECT. Fields that we applied before and omit now
   * are removed; fields of other managers stay. It sends no request when nothing would change.
   */
  apply<T extends KubernetesObject>(resource: Resource<T>, desired: T, options?: ApplyOptions): Promise<WriteResult<T>>;
  /**
   * createOnce creates an object whose content must never be written again, such as a generated password. `make` is
   * called only when no object exists. An existing one stays as it is; it must carry our owner reference or labels,
   * else it throws BOWLINE_FOREIGN_OBJECT.
   */
  createOnce<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    make: () => T | Promise<T>,
    options?: OwnershipOptions,
  ): Promise<WriteResult<T>>;
  /**
   * remove deletes an object if it is ours. It succeeds if the object is gone; an object that has replaced it is not
   * touched.
   */
  remove<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RemoveOptions,
  ): Promise<RemoveResult>;
}

/**
 * createWriter creates a writer.
 *
 * @example
 * const writer = createWriter({ client, fieldManager: fieldManagerOf({ name: 'site', domain: 'example.com' }, 'page'),
 * ownership: { owner: { resource: Site, object } } }); await writer.apply(ConfigMap, { metadata: { namespace, name:
 * `${name}-page` }, data: { html } });
 */
export function createWriter(options: WriterOptions): Writer {
  const { client, fieldManager, lookup, check, signal } = options;
  const tools: ApplyTools = {
    client,
    fieldManager,
    lookup,
    writeMemo: options.writeMemo ?? new WriteMemo(),
    shapeOf: (resource) => options.shapeOf?.(resource) ?? builtInShapeOf(resource),
    log: options.log ?? silentLog,
    signal,
  };
  const defaults = options.ownership ?? {};
  return {
    async apply(resource, desired, given = {}) {
      const key = checkDesired('apply', resource, desired);
      const ownership = ownershipFor(defaults, given, key);
      assertOwnership('apply', resource, key, ownership);
      const wanted = withOwnership(resource, desired, ownership);
      check?.('apply', resource, wanted);
      return guardedApply(tools, {
        resource,
        key,
        desired: wanted,
        ownership,
        isOurs: (object) => hasOwnership(object, ownership),
        dryRun: given.dryRun,
      });
    },
    async createOnce(resource, key, make, given = {}) {
      const ownership = ownershipFor(defaults, given, key);
      assertOwnership('create', resource, key, ownership);
      return guardedCreate({ client, fieldManager, lookup, signal }, { resource, key, make, ownership, check });
    },
    async remove(resource, key, given = {}) {
      const ownership = ownershipFor(defaults, given, key);
      const { isOurs, uid, propagationPolicy, gracePeriodSeconds } = given;
      if (!isOurs) assertOwnership('remove', resource, key, ownership);
      // If the owner in the cache is outdated, a reference to another uid may be the newer one.
      const isMine = (object: KubernetesObject): boolean =>
        hasOwnership(object, ownership) && !(ownership.owner && relationTo(ownership.owner, object) === 'stale');
      return guardedDelete(
        { client, lookup, signal },
        {
          resource,
          key,
          isOurs: isOurs ? ({ metadata = {} }) => isOurs(metadata) : isMine,
          uid,
          propagationPolicy,
          gracePeriodSeconds,
        },
      );
    },
  };
}

function ownershipFor(defaults: Ownership, given: ApplyOptions, key: ObjectKey): Ownership {
  const labels = given.labels ?? defaults.labels;
  if (given.owner === null) return { labels };
  if (given.owner) return { owner: given.owner, labels };
  const { owner } = defaults;
  return owner && labels && !canOwn(owner, key.namespace) ? { labels } : { owner, labels };
}

function assertOwnership(verb: string, resource: Resource, key: ObjectKey, { owner, labels }: Ownership): void {
  if (owner || Object.keys(labels ?? {}).length > 0) return;
  throw invalid(verb, resource, key, 'nothing would mark it as ours; set an owner or labels');
}

function invalid(verb: string, resource: Resource, key: ObjectKey, problem: string): BowlineError {
  return new BowlineError('BOWLINE_WRITE_INVALID', `cannot ${verb} ${resource.kind} ${key.name}: ${problem}`);
}

/** The shape of every kind that was written: bounded by the number of resources in the program. */
const builtIn = new Map<string, FieldShape | undefined>();

function builtInShapeOf(resource: Resource): FieldShape | undefined {
  if (!builtIn.has(resource.id)) builtIn.set(resource.id, builtInShape(apiVersionOf(resource), resource.kind));
  return builtIn.get(resource.id);
}
