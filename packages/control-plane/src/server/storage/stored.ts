import type { KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson, readJson } from '@bowline/machinery';

/**
 * Stored is one state of one object. It holds the text that clients receive, not the value: responses and watch events
 * are then copies of strings, and 20,000 objects cost little more than their bytes.
 */
export interface Stored {
  /** `namespace/name`, or `/name` for a cluster-scoped kind: the order of lists. */
  readonly key: string;
  /** The revision of the write that made this state; also in the text. */
  readonly revision: number;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Without apiVersion and kind, which depend on the requested version. */
  readonly json: string;
}

/** keyIn returns the key of an object in its collection. */
export function keyIn(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** splitKey is the inverse of `mergeKeyValue`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** storedFrom returns the state that a write at `revision` makes. */
export function storedFrom(key: string, revision: number, object: KubernetesObject): Stored {
  const { uid = '', labels } = object.metadata ?? {};
  return { key, revision, uid, labels: labels && ownLabels(labels), json: textAt(revision, object) };
}

/** In V8, values parsed from a request are slices of its text, and would keep all of it alive. */
function ownLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return JSON.parse(JSON.stringify(labels)) as Record<string, string>;
}

/** storedAs returns the state with the given text: the inverse of taking `json` from a state. */
export function storedAs(key: string, revision: number, json: string): Stored {
  const { uid = '', labels } = (readJson(json) as KubernetesObject).metadata ?? {};
  return { key, revision, uid, labels, json };
}

/** isSameExceptRevision reports whether two states of an object are equal except for their revisions. */
export function isSameExceptRevision(state: Stored, other: Stored): boolean {
  // If the replaced version belongs to something else in the object, the texts differ in the object's own version.
  return textWith(state, other.revision) === other.json;
}

/** textWith returns the text of a state as if a write at another revision had made it. */
export function textWith({ json, revision }: Stored, other: number): string {
  const member = (of: number): string => `"resourceVersion":"${of}"`;
  const at = json.indexOf(member(revision));
  return `${json.slice(0, at)}${member(other)}${json.slice(at + member(revision).length)}`;
}

function textAt(revision: number, object: KubernetesObject): string {
  const metadata = { ...object.metadata, resourceVersion: String(revision) };
  return canonicalJson({ ...object, apiVersion: undefined, kind: undefined, metadata });
}

/** objectOf returns a new value, without apiVersion and kind, which the caller may change. */
export function objectOf(stored: Stored): KubernetesObject {
  // Only objects with metadata are stored.
  return readJson(stored.json) as KubernetesObject;
}
