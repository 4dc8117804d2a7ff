import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '@bowline/kubernetes';
import { changed, project } from '@bowline/runtime';
import {
  CONSENT_ANNOTATIONS,
  MANAGED_BY,
  OUR_MANAGERS,
  PAUSED,
  SECRET_ANNOTATIONS,
  SECRET_LABELS,
} from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { formatKeys, parseKeys } from './managed-keys.ts';

/** SecretMarks are what a Secret's annotations say about its last sync; see `SECRET_ANNOTATIONS`. */
export type SecretMarks = { readonly [Mark in keyof typeof SECRET_ANNOTATIONS]: string | undefined };

/** SecretView is what is known of a Secret: enough to tell whether it is as it should be, and none of its values. */
export interface SecretView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  /** Somebody wants it to be left alone. */
  readonly isPaused: boolean;
  readonly isImmutable: boolean;
  readonly type: string;
  /** It carries the label of ours. Others are written only to merge keys into them, with their consent. */
  readonly isOurs: boolean;
  readonly isMergeAllowed: boolean;
  /** The value of the label `SECRET_LABELS.provider`. */
  readonly provider: string | undefined;
  readonly hasData: boolean;
  /** The keys of a Secret that is not ours: some may be in the way of ours. */
  readonly foreignKeys: string | undefined;
  /** The hash of what is ours in it: all of a Secret of ours, of others the keys that we wrote. */
  readonly hash: string;
  readonly marks: SecretMarks;
}

/** OUR_SECRETS selects the Secrets that are ours; NOT_OUR_SECRETS all others. */
export const OUR_SECRETS = `${MANAGED_BY} in (${OUR_MANAGERS.join(',')})`;
export const NOT_OUR_SECRETS = `${MANAGED_BY} notin (${OUR_MANAGERS.join(',')})`;

/** DEFAULT_TYPE is the type of a Secret that names none. */
const DEFAULT_TYPE = 'Opaque';

/** secretView is the view of the cache; see `viewOfSecret`. */
export const secretView = project(viewOfSecret);

/** secretChanged passes what changes a SecretView in more than its version. */
export const secretChanged = changed(
  ({ resourceVersion: _before, ...before }: SecretView, { resourceVersion: _after, ...after }: SecretView) =>
    !isDeepStrictEqual(before, after),
);

/** viewOfSecret is what is known of a Secret. */
export function viewOfSecret({ metadata = {}, data = {}, type = DEFAULT_TYPE, immutable }: Secret): SecretView {
  const { namespace = '', name = '', uid = '', resourceVersion = '', labels = {}, annotations = {} } = metadata;
  const isOurs = OUR_MANAGERS.some((manager) => labels[MANAGED_BY] === manager);
  const marks = marksOf(annotations);
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isTerminating: metadata.deletionTimestamp !== undefined,
    isPaused: annotations[PAUSED] === 'true',
    isImmutable: immutable === true,
    type,
    isOurs,
    isMergeAllowed: annotations[CONSENT_ANNOTATIONS.mergeAllowed] === 'true',
    provider: labels[SECRET_LABELS.provider],
    hasData: Object.keys(data).length > 0,
    foreignKeys: isOurs ? undefined : formatKeys(Object.keys(data)),
    hash: dataHash(isOurs ? data : oursOf(data, marks)),
    marks,
  };
}

/** marksOf are the marks among annotations. */
function marksOf(annotations: Readonly<Record<string, string>>): SecretMarks {
  const marks = Object.entries(SECRET_ANNOTATIONS).map(([mark, annotation]) => [mark, annotations[annotation]]);
  // The names are those of the constant, so the object made of them has its keys.
  return Object.fromEntries(marks) as SecretMarks;
}

function oursOf(data: NonNullable<Secret['data']>, { managedKeys }: SecretMarks): NonNullable<Secret['data']> {
  const ours = parseKeys(managedKeys);
  return Object.fromEntries(Object.entries(data).filter(([key]) => ours.has(key)));
}
