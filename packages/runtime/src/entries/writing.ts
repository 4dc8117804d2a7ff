// The entry of `@bowline/runtime/writing`: the writer behind the verbs of a context, and helpers for owners,
// finalizers, conditions and events.
export { type Content, type ContentEntry, losesContent } from '../content/content.ts';
export { contentMembers } from '../content/content-bodies.ts';
export type { ContentView } from '../content/content-view.ts';
export {
  type ContentStop,
  type ContentTools,
  type Ensured,
  type EnsureOptions,
  ensureContent,
  type ObservedObject,
} from '../content/ensure-content.ts';
export type {
  ContentAnnotations,
  ContentFormat,
  DesiredContent,
  ManagedContent,
  OperatorAnnotationFormat,
  OperatorAnnotations,
  WantedContent,
} from '../content/managed-content.ts';
export {
  type Claim,
  type ContentPlan,
  type ContentPolicy,
  planContent,
  type StopReason,
} from '../content/plan-content.ts';
export {
  isDeletedOnRelease,
  type ReleaseContentOptions,
  type ReleasedContent,
  releaseContent,
} from '../content/release-content.ts';
export { replaceContent } from '../content/replace-content.ts';
export { saveContent } from '../content/save-content.ts';
export { fieldManagerOf } from '../identity/operator-identity.ts';
export { appliedView } from '../writing/applied-view.ts';
export { type BackupOptions, type BackupTools, saveBackup } from '../writing/backup.ts';
export {
  type CleanupOptions,
  type CleanupProgress,
  type CleanupTier,
  cleanUpTiers,
  type ForcedFinalizer,
  type Leftover,
  type WaitingObject,
} from '../writing/cleanup-tiers.ts';
export type { ConditionStatus, ConditionUpdate } from '../writing/conditions.ts';
export { type Deletion, type DeletionMode, deletionOf } from '../writing/deletion.ts';
export type { EventMessage, EventReport, EventSubject } from '../writing/event.ts';
export { EventRecorder, type EventRecorderOptions } from '../writing/event-recorder.ts';
export { addFinalizer, type FinalizerOptions, hasFinalizer, removeFinalizer } from '../writing/finalizers.ts';
export type { WriteResult } from '../writing/guarded-apply.ts';
export type { WriteCheck } from '../writing/guarded-create.ts';
export type { RemoveResult } from '../writing/guarded-delete.ts';
export { informerLookup } from '../writing/informer-lookup.ts';
export { type Owner, type OwnerReferenceOptions, ownerReference } from '../writing/owner-reference.ts';
export { type OwnerWriteOptions, setOwner } from '../writing/owner-writes.ts';
export type { Ownership, OwnershipGuard } from '../writing/ownership.ts';
export { type ReleaseOptions, release } from '../writing/release.ts';
export type { CachedObject, Lookup, WriteClient, WriteTools } from '../writing/write-client.ts';
export {
  type ApplyOptions,
  createWriter,
  type OwnershipOptions,
  type RemoveOptions,
  type Writer,
  type WriterOptions,
} from '../writing/writer.ts';
