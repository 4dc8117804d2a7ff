export interface OwnerReference {
  readonly apiVersion: string;
  readonly blockOwnerDeletion?: boolean;
  readonly controller?: boolean;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}
export interface ManagedFieldsEntry {
  readonly apiVersion?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
}
export interface ObjectMeta {
  readonly annotations?: { readonly [key: string]: string };
  readonly creationTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly generateName?: string;
  readonly generation?: number;
  readonly labels?: { readonly [key: string]: string };
  readonly managedFields?: readonly ManagedFieldsEntry[];
  readonly name?: string;
  readonly namespace?: string;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly resourceVersion?: string;
  readonly selfLink?: string;
  readonly uid?: string;
}
export interface ListMeta {
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly resourceVersion?: string;
  readonly selfLink?: string;
}
export interface StatusCause {
  readonly field?: string;
  readonly message?: string;
  readonly reason?: string;
}
export interface StatusDetails {
  readonly causes?: readonly StatusCause[];
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly retryAfterSeconds?: number;
  readonly uid?: string;
}
export interface Status {
  readonly apiVersion?: string;
  readonly code?: number;
  readonly details?: StatusDetails;
  readonly kind?: string;
  readonly message?: string;
  readonly metadata?: ListMeta;
  readonly reason?: string;
  readonly status?: string;
}
export interface Condition {
  readonly lastTransitionTime: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly status: string;
  readonly type: string;
}
