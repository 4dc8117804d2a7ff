import type { KubernetesObject, Scope } from '@bowline/kubernetes';
import type { Schema } from '@bowline/kubernetes/schemas';
import type { FieldProblem, FieldShape, Random } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Verb } from '../http/request-info.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stored } from '../storage/stored.ts';
import type { NameRule } from './names.ts';

/** Draft is an object on its way into storage. It belongs to one request, so it may be changed in place. */
export type Draft = {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: DraftMeta;
  [field: string]: unknown;
};

/** DraftMeta is the metadata of a draft. */
export type DraftMeta = {
  -readonly [Name in keyof NonNullable<KubernetesObject['metadata']>]: NonNullable<KubernetesObject['metadata']>[Name];
};

/** WriteContext holds what preparing and validating may depend on besides the object. */
export interface WriteContext {
  readonly user: UserInfo;
  /** Wall time, in milliseconds. */
  readonly now: number;
  readonly dryRun: boolean;
}

/** ComputeContext holds what a computed response may depend on besides the request body. */
export interface ComputeContext extends WriteContext {
  /** From the path; empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** From the path; empty unless the kind is created at a subresource. */
  readonly name: string;
}

/**
 * ComputeResponse computes the response for a kind that is not stored, such as a review or a token: the completed draft, or
 * another object.
 */
export type ComputeResponse = (draft: Draft, context: ComputeContext) => Promise<Draft> | Draft;

/** Allocation provides what a kind needs to find free values. */
export interface Allocation {
  readonly storage: Storage;
  readonly random: Random;
  readonly dryRun: boolean;
}

/** Decoded holds a request body decoded as an object of a kind. */
export interface Decoded {
  readonly object: Draft;
  /** Paths of unknown fields, which were dropped. */
  readonly unknown: readonly string[];
}

/**
 * Strategy implements what is specific to a kind: how its objects are decoded, defaulted and validated. Everything else
 * is the same for all kinds and lives in the handlers.
 */
export interface Strategy {
  /** decode reads a request body: unknown fields are dropped and listed, wrong types throw a StatusError (400). */
  decode(value: Readonly<Record<string, unknown>>): Decoded;
  /**
   * prepareForCreate sets the fields that only the server sets, and drops those that a client may not set on create,
   * such as the status.
   */
  readonly prepareForCreate?: ((object: Draft, context: WriteContext) => void) | undefined;
  /** prepareForUpdate keeps the fields that an update may not change, such as the status. */
  readonly prepareForUpdate?: ((object: Draft, old: Draft, context: WriteContext) => void) | undefined;
  /** applyDefaults sets defaults for absent fields. It is idempotent. */
  readonly applyDefaults?: ((object: Draft) => void) | undefined;
  /**
   * allocate gives an object values that no other object may have, such as an address. It runs before validation and
   * again immediately before the object is stored, because another request may have taken the values in between. It
   * throws a StatusError to reject the request.
   */
  readonly allocate?: ((object: Draft, old: Draft | undefined, allocation: Allocation) => void) | undefined;
  /**
   * loadForValidate loads code that validation needs and that is too large to load at startup; undefined if the object
   * needs none.
   */
  readonly loadForValidate?: ((object: Draft) => Promise<void> | undefined) | undefined;
  /** validate returns the problems of an object; `old` is set for updates. */
  validate(object: Draft, old: Draft | undefined, context: WriteContext): readonly FieldProblem[];
  /** warningsOf returns warnings for the client that writes a valid object. */
  readonly warningsOf?: ((object: Draft, old: Draft | undefined) => readonly string[]) | undefined;
  /**
   * countsGeneration reports whether the change from `old` affects the desired state. Absent for kinds without
   * generations.
   */
  readonly countsGeneration?: ((object: Draft, old: Draft) => boolean) | undefined;
  /**
   * gracePeriodSeconds returns how long an object may continue to exist after it was deleted; undefined removes it at
   * once.
   */
  readonly gracePeriodSeconds?: ((object: Draft, requested: number | undefined) => number | undefined) | undefined;
  /** prepareForDelete changes an object that is marked as deleted, for example to add a finalizer of the server. */
  readonly prepareForDelete?: ((object: Draft, old: Draft, now: number) => void) | undefined;
  /** Whether deleting an object returns the object. Defaults to a Status with its name. */
  readonly returnsDeletedObject?: boolean | undefined;
  /** isKept reports whether something besides finalizers and a grace period retains a deleted object. */
  readonly isKept?: ((object: Draft) => boolean) | undefined;
}

/** Projection presents an object as another kind, such as a Scale, and applies changes of that kind to the object. */
export interface Projection {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Schema;
  readonly strategy: Pick<Strategy, 'decode' | 'validate'>;
  project(object: Draft): Draft;
  /** checkRead throws a StatusError when a read has nothing to return; writes are still allowed. */
  readonly checkRead?: ((object: Draft) => void) | undefined;
  /** applyTo updates the object from its changed projection. */
  applyTo(object: Draft, projected: Draft): void;
}

/** Subresource is a part of an object with its own path. */
export interface Subresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The group, version and kind in discovery. Default to those of the resource. */
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  /** The strategy of update and patch. Absent for subresources that have their own handler. */
  readonly strategy?: Strategy | undefined;
  /** The kind that is created at this subresource, where it is computed: a TokenRequest. */
  readonly creates?: ApiResource | undefined;
  /** The kind that get, update and patch use, where it is not the kind of the resource. */
  readonly projection?: Projection | undefined;
}

/** ApiResource describes one served version of a resource. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  /** The plural name that is used in the path. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly scope: Scope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** The storage collection of its objects: the same for all versions of a resource. */
  readonly collection: string;
  /** The version in which objects are stored, if it is not this one. */
  readonly storageVersion?: string | undefined;
  /** Whether the items of a list have an apiVersion and a kind; those of built-in kinds do not. */
  readonly listsTypedItems: boolean;
  readonly strategy: Strategy;
  /**
   * viewOf converts a stored object to this version, for kinds whose schema changes or differs between versions.
   * Defaults to the stored object.
   */
  readonly viewOf?: ((stored: Stored) => Stored) | undefined;
  /** Computes the response of a kind that is never stored. Such a kind supports only create. */
  readonly computeResponse?: ComputeResponse | undefined;
  readonly nameRule: NameRule;
  /** Whether an update must specify the resourceVersion that it replaces. */
  readonly needsVersion: boolean;
  /** Whether an update creates a missing object. Defaults to false. */
  readonly createsOnUpdate?: boolean | undefined;
  /** The shape of its fields, for server-side apply. */
  readonly shape: FieldShape | undefined;
  /**
   * The schema of its fields, for strategic merge patches; undefined for custom resources, which reject such patches.
   */
  readonly schema: Schema | undefined;
  /** The schema that validates a custom resource; undefined for built-in kinds. */
  readonly structuralSchema?: StructuralSchema | undefined;
  /** The fields that field selectors may use besides metadata.name and metadata.namespace, and how they are read. */
  readonly selectableFields: ReadonlyMap<string, (object: KubernetesObject) => string>;
  /** Columns of its tables besides the name. Defaults to the age. */
  readonly columns?: readonly TableColumn[] | undefined;
  /** Returns the conditions of a table row. Defaults to none. */
  readonly rowConditions?: RowConditions | undefined;
  /** Warning that is returned to clients of a deprecated version. */
  readonly deprecation?: string | undefined;
}

/** RowConditions returns the conditions of a table row: kubectl uses them to hide completed pods on request. */
export type RowConditions = (
  object: KubernetesObject,
) => readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];

/** TableColumn defines one column of a table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always displayed, higher values only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubernetesObject, now: number) => unknown;
}
