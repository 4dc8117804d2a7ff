import { hash } from 'node:crypto';
import { apiVersionOf, type KubernetesObject, type Resource } from '@bowline/kubernetes';
import type { ObjectReference } from '@bowline/kubernetes/core-v1';

/** EventMessage describes something that happened to an object and that people should see with `kubectl describe`. */
export interface EventMessage {
  readonly type: 'Normal' | 'Warning';
  /** The reason, one CamelCase word. At most 128 characters. */
  readonly reason: string;
  /**
   * What happened, for people. Free of ids and numbers that change each time, or events cannot be aggregated. Truncated
   * to 1,024 bytes.
   */
  readonly note: string;
  /** The action, one CamelCase word. Defaults to `Reconcile`. */
  readonly action?: string | undefined;
}

/** EventSubject identifies an object that an event is about, without the object itself. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    /** Undefined for cluster-scoped objects. */
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid: string;
  };
}

/** EventReport is a message together with the object that it is about. */
export interface EventReport {
  readonly regarding: ObjectReference;
  readonly message: EventMessage;
}

/** The API's limits. */
const MAX_NOTE_BYTES = 1024;
const MAX_WORD_LENGTH = 128;

/** referenceTo returns the reference of an event to the object that it is about. */
export function referenceTo(resource: Resource, object: KubernetesObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, namespace, uid, resourceVersion };
}

/** referenceToSubject returns the reference of an event to an object that is known by reference. */
export function referenceToSubject({ apiVersion, kind, metadata }: EventSubject): ObjectReference {
  const { namespace, name, uid } = metadata;
  return { apiVersion, kind, name, namespace, uid };
}

/** boundedMessage returns a message that the API server accepts. */
export function boundedMessage(message: EventMessage): Required<EventMessage> {
  const { type, reason, note, action = 'Reconcile' } = message;
  return {
    type,
    reason: reason.slice(0, MAX_WORD_LENGTH),
    note: truncate(note),
    action: action.slice(0, MAX_WORD_LENGTH),
  };
}

/** The limit counts bytes; a character that would be split is left out. */
function truncate(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  const ellipsis = '…';
  const kept = bytes.subarray(0, MAX_NOTE_BYTES - Buffer.byteLength(ellipsis)).toString('utf8');
  return `${kept.replace(/\uFFFD+$/, '')}${ellipsis}`;
}

/** signatureOf returns the same short text for messages with the same content: thousands of them are remembered. */
export function signatureOf({ type, reason, note, action }: Required<EventMessage>): string {
  return hash('sha256', JSON.stringify([type, reason, note, action]), 'base64url');
}
