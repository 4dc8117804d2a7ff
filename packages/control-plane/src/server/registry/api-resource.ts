import type { KubernetesObject, Scope } from '@bowline/kubernetes';
import type { Schema } from '@bowline/kubernetes/schemas';
import type { FieldProblem, FieldShape, Random } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Verb } from '../http/request-info.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stored } from '../storage/stored.ts';
import type { NameRule } from './names.ts';

/**
 * Draft is an object on its way into storage. It belongs to one request, so whoever prepares it may change it in place.
 */
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

/** WriteContext is what preparing and validating may depend on besides the object. */
export interface WriteContext {
  readonly user: UserInfo;
  /** Wall time, in milliseconds. */
  readonly now: number;
  readonly dryRun: boolean;
}

/** AnswerContext is what a computed answer may depend on besides what was sent. */
export interface AnswerContext extends WriteContext {
  /** Of the path; empty for cluster-wide kinds. */
  readonly namespace: string;
  /** Of the path; empty unless the kind is sent to a part of an object. */
  readonly name: string;
}

/** Answer computes what is told of a kind that is not stored, such as a review or a token: the draft, completed, or another. */
export type Answer = (draft: Draft, context: AnswerContext) => Promise<Draft> | Draft;

/** Allocation is where a kind finds what is free. */
export interface Allocation {
  readonly storage: Storage;
  readonly random: Random;
  readonly dryRun: boolean;
}

/** Decoded is a request's body as a kind understands it. */
export interface Decoded {
  readonly object: Draft;
  /** Paths of fields that the kind does not have; they were dropped. */
  readonly unknown: readonly string[];
}

/**
 * Strategy is what is special about a kind: how its objects are read, completed and judged. Everything else is the same for
 * all kinds and lives in the handlers.
 */
export interface Strategy {
  /** decode takes what somebody sent: unknown fields are dropped and named, wrong types throw a StatusError (400). */
  decode(value: Readonly<Record<string, unknown>>): Decoded;
  /** prepareForCreate sets what the server alone decides, and drops what a creator may not say, such as the status. */
  readonly prepareForCreate?: ((object: Draft, context: WriteContext) => void) | undefined;
  /** prepareForUpdate keeps what an update may not touch, such as the status. */
  readonly prepareForUpdate?: ((object: Draft, old: Draft, context: WriteContext) => void) | undefined;
  /** applyDefaults fills in what is left out; twice is as good as once. */
  readonly applyDefaults?: ((object: Draft) => void) | undefined;
  /**
   * allocate gives an object what no other one may have, such as an address. It is asked before the object is judged and, since
   * others may have been faster, again in the moment before it is stored. A refusal is a thrown StatusError.
   */
  readonly allocate?: ((object: Draft, old: Draft | undefined, allocation: Allocation) => void) | undefined;
  /** loadForValidate loads what judging an object needs, where that is too large to be loaded before; undefined if it needs nothing. */
  readonly loadForValidate?: ((object: Draft) => Promise<void> | undefined) | undefined;
  /** validate finds what is wrong with an object; `old` is there for updates. */
  validate(object: Draft, old: Draft | undefined, context: WriteContext): readonly FieldProblem[];
  /** warningsOf is what whoever writes an object should know, although nothing is wrong with it. */
  readonly warningsOf?: ((object: Draft, old: Draft | undefined) => readonly string[]) | undefined;
  /** countsGeneration says whether a change from `old` is one of what is wanted. Absent for kinds without generations. */
  readonly countsGeneration?: ((object: Draft, old: Draft) => boolean) | undefined;
  /** gracePeriodSeconds is how long an object may go on after it was deleted; undefined to go at once. */
  readonly gracePeriodSeconds?: ((object: Draft, asked: number | undefined) => number | undefined) | undefined;
  /** prepareForDelete changes an object that is marked as deleted, such as by a finalizer of the server's own. */
  readonly prepareForDelete?: ((object: Draft, old: Draft, now: number) => void) | undefined;
  /** Whether the answer about an object that is gone is the object. Defaults to a status with its name. */
  readonly tellsDeleted?: boolean | undefined;
  /** isKept says that something besides finalizers and a grace period keeps a deleted object. */
  readonly isKept?: ((object: Draft) => boolean) | undefined;
}

/** Projection shows an object as another kind, and takes changes of that kind back: a Scale. */
export interface Projection {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Schema;
  readonly strategy: Pick<Strategy, 'decode' | 'validate'>;
  show(object: Draft): Draft;
  /** checkRead throws a StatusError when there is nothing to show to whoever reads; writers may write it. */
  readonly checkRead?: ((object: Draft) => void) | undefined;
  /** take changes the object to what its projection wants. */
  take(object: Draft, shown: Draft): void;
}

/** Subresource is a part of an object with a path of its own. */
export interface Subresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind that stands in discovery; the resource's own unless said. */
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  /** What update and patch of it may change. Absent for those that the server answers in a way of their own. */
  readonly strategy?: Strategy | undefined;
  /** What is created below it, where that is computed: a TokenRequest. */
  readonly creates?: ApiResource | undefined;
  /** What get, update and patch of it are about, where that is another kind. */
  readonly projection?: Projection | undefined;
}

/** ApiResource is one resource in one version, as it is served. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  /** The plural that stands in the path. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly scope: Scope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** Where its objects are stored: the same for all versions of a resource. */
  readonly collection: string;
  /** The version in which objects are stored, where that is another than this one. */
  readonly storageVersion?: string | undefined;
  /** Whether the items of a list say what they are; those of built-in kinds do not. */
  readonly listsTypedItems: boolean;
  readonly strategy: Strategy;
  /**
   * viewOf is a state as this version shows it, where that can be another than the stored one: of a kind whose schema changes,
   * or differs between versions. Defaults to what is stored.
   */
  readonly viewOf?: ((stored: Stored) => Stored) | undefined;
  /** A kind with an answer is computed and never stored; all that can be done with it is to create it. */
  readonly answer?: Answer | undefined;
  readonly nameRule: NameRule;
  /** Whether an update must say which version it replaces. */
  readonly needsVersion: boolean;
  /** Whether an update of what is not there makes it. Defaults to false. */
  readonly createsOnUpdate?: boolean | undefined;
  /** What server-side apply knows of its fields. */
  readonly shape: FieldShape | undefined;
  /** What strategic merge knows of its fields; undefined for custom resources, which refuse such patches. */
  readonly schema: Schema | undefined;
  /** What a custom resource is judged by; undefined for built-in kinds. */
  readonly structuralSchema?: StructuralSchema | undefined;
  /** Fields that selectors may name besides metadata.name and metadata.namespace, and how they are read. */
  readonly selectableFields: ReadonlyMap<string, (object: KubernetesObject) => string>;
  /** Columns of its tables besides the name. Defaults to the age. */
  readonly columns?: readonly TableColumn[] | undefined;
  /** What a table says of an object besides its cells. Defaults to nothing. */
  readonly rowConditions?: RowConditions | undefined;
  /** A deprecated version says so in a warning. */
  readonly deprecation?: string | undefined;
}

/** RowConditions are marks of a row: kubectl leaves out pods that are completed when it is asked to. */
export type RowConditions = (
  object: KubernetesObject,
) => readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];

/** TableColumn is one column of a table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, more only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubernetesObject, now: number) => unknown;
}
