import { contentKeyProblem } from '@bowline/machinery';
import { secretPathProblem } from '../../api/secret-path.ts';

/** APPLICATION is the application (CKA_APPLICATION) of all objects of this layout. */
export const APPLICATION = 'hsm-secrets-operator';

/** DEFAULT_KEY is the key that the older system stores under the path itself. */
export const DEFAULT_KEY = 'data';

const METADATA_KEY = '_metadata';

/** valueLabel returns the label of the object with the value of a key. */
export function valueLabel(path: string, key: string): string {
  return `${path}/${key}`;
}

/** metadataLabel returns the label of the objects with the metadata of a secret. */
export function metadataLabel(path: string): string {
  return `${path}/${METADATA_KEY}`;
}

/** keyProblem returns what is wrong with a key of a secret; undefined if it is valid. */
export function keyProblem(key: string): string | undefined {
  return key === METADATA_KEY ? `must not be '${METADATA_KEY}'` : contentKeyProblem(key);
}

/** ParsedLabel holds what a label can stand for. At least one member is set. */
export interface ParsedLabel {
  /** The secret whose metadata the object holds. */
  readonly metadataPath?: string | undefined;
  /** The secret and the key whose value the object holds. */
  readonly entry?: { readonly path: string; readonly key: string } | undefined;
  /** The secret whose `data` the object holds, in the older layout. */
  readonly defaultPath?: string | undefined;
}

/** parseLabel returns what a label can stand for; undefined for an object that is not part of this layout. */
export function parseLabel(label: string): ParsedLabel | undefined {
  const slash = label.lastIndexOf('/');
  const [parent, last] = [label.slice(0, Math.max(slash, 0)), label.slice(slash + 1)];
  const isParentValid = slash > 0 && secretPathProblem(parent) === undefined;
  if (last === METADATA_KEY) return isParentValid ? { metadataPath: parent } : undefined;
  const entry = isParentValid && keyProblem(last) === undefined ? { path: parent, key: last } : undefined;
  const defaultPath = secretPathProblem(label) === undefined ? label : undefined;
  return entry === undefined && defaultPath === undefined ? undefined : { entry, defaultPath };
}
