// Generated from openapi/meta-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.

export interface APIResource {
  readonly categories?: readonly string[] | undefined;
  readonly group?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[] | undefined;
  readonly singularName: string;
  readonly storageVersionHash?: string | undefined;
  readonly verbs: readonly string[];
  readonly version?: string | undefined;
}

export interface APIResourceList {
  readonly apiVersion?: string | undefined;
  readonly groupVersion: string;
  readonly kind?: string | undefined;
  readonly resources: readonly APIResource[];
}

export interface Condition {
  readonly lastTransitionTime: string;
  readonly message: string;
  readonly observedGeneration?: number | undefined;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
}

export interface DeleteOptions {
  readonly apiVersion?: string | undefined;
  readonly dryRun?: readonly string[] | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined;
  readonly kind?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?: Preconditions | undefined;
  readonly propagationPolicy?: string | undefined;
}

export interface FieldSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
  readonly matchLabels?: { readonly [key: string]: string } | undefined;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface ListMeta {
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
  readonly resourceVersion?: string | undefined;
  readonly selfLink?: string | undefined;
}

export interface ManagedFieldsEntry {
  readonly apiVersion?: string | undefined;
  readonly fieldsType?: string | undefined;
  readonly fieldsV1?: unknown;
  readonly manager?: string | undefined;
  readonly operation?: string | undefined;
  readonly subresource?: string | undefined;
  readonly time?: string | undefined;
}

export interface ObjectMeta {
  readonly annotations?: { readonly [key: string]: string } | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly generateName?: string | undefined;
  readonly generation?: number | undefined;
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly resourceVersion?: string | undefined;
  readonly selfLink?: string | undefined;
  readonly uid?: string | undefined;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly blockOwnerDeletion?: boolean | undefined;
  readonly controller?: boolean | undefined;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface Preconditions {
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

export interface Status {
  readonly apiVersion?: string | undefined;
  readonly code?: number | undefined;
  readonly details?: StatusDetails | undefined;
  readonly kind?: string | undefined;
  readonly message?: string | undefined;
  readonly metadata?: ListMeta | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
}

export interface StatusCause {
  readonly field?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
}

export interface StatusDetails {
  readonly causes?: readonly StatusCause[] | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly uid?: string | undefined;
}

export interface WatchEvent {
  readonly object: unknown;
  readonly type: string;
}
