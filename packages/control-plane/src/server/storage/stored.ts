import type { KubernetesObject } from '@bowline/kubernetes';
import { canonicalJson, readJson } from '../json/canonical-json.ts';

/**
 * Stored is one state of one object. It holds the text that clients get, not the value: answers and watch events are then
 * copies of strings, and 20,000 objects cost little more than their bytes.
 */
export interface Stored {
  /** `namespace/name`, or `/name` of a cluster-wide kind: the order of lists. */
  readonly key: string;
  /** Of the write that made this state; also in the text. */
  readonly revision: number;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Without apiVersion and kind, which depend on the version that is asked for. */
  readonly json: string;
}

/** keyIn is where an object is in its collection. */
export function keyIn(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** splitKey is the inverse of `keyIn`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** storedFrom is the state that a write at `revision` makes. */
export function storedFrom(key: string, revision: number, object: KubernetesObject): Stored {
  const { uid = '', labels } = object.metadata ?? {};
  return { key, revision, uid, labels: labels && ownLabels(labels), json: textAt(revision, object) };
}

/** Values that were read from a request are slices of its text in V8, and would keep all of it for as long as they live. */
function ownLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return JSON.parse(JSON.stringify(labels)) as Record<string, string>;
}

/** storedAs is the state whose text was kept: the inverse of taking `json` from a state. */
export function storedAs(key: string, revision: number, json: string): Stored {
  const { uid = '', labels } = (readJson(json) as KubernetesObject).metadata ?? {};
  return { key, revision, uid, labels, json };
}

/** isSameBut says that two states of an object are the same but for their revisions. */
export function isSameBut(state: Stored, other: Stored): boolean {
  // Should it be the version of something else in the object, the texts differ in the object's own.
  return textWith(state, other.revision) === other.json;
}

/** textWith is the text of a state as if a write at another revision had made it. */
export function textWith({ json, revision }: Stored, other: number): string {
  const member = (of: number): string => `"resourceVersion":"${of}"`;
  const at = json.indexOf(member(revision));
  return `${json.slice(0, at)}${member(other)}${json.slice(at + member(revision).length)}`;
}

function textAt(revision: number, object: KubernetesObject): string {
  const metadata = { ...object.metadata, resourceVersion: String(revision) };
  return canonicalJson({ ...object, apiVersion: undefined, kind: undefined, metadata });
}

/** objectOf is a fresh value, without apiVersion and kind: whoever gets it may change it. */
export function objectOf(stored: Stored): KubernetesObject {
  // Nothing is stored that is not an object with metadata.
  return readJson(stored.json) as KubernetesObject;
}
