import type { Secret } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { formatKeys, parseKeys } from './managed-keys.ts';
import type { SecretMarks, SecretView } from './secret-view.ts';

type Texts = Readonly<Record<string, string>>;
type Changes = Readonly<Record<string, string | null>>;

/** WantedMarks are what a Secret should say about itself, besides its data. */
export interface WantedMarks {
  readonly request: SecretSyncRequest;
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The id of the workload that it is written for. */
  readonly askedBy: string;
  /** The hash of its data. */
  readonly hash: string | undefined;
  readonly version: string | undefined;
  /** The value of `force-sync` that is obeyed with this. Undefined: none, and what it remembers stays. */
  readonly forced: string | undefined;
}

/** WantedSecret is what a Secret should be. */
export interface WantedSecret extends WantedMarks {
  readonly data: Texts;
  readonly hash: string;
  /** The value of the label `MANAGED_BY`. */
  readonly managedBy: string;
  /** Whether some workload is to be restarted when the content changes. */
  readonly restarts: boolean;
}

/** asItIs is what a Secret should say whose content is not touched. */
export function asItIs(
  { marks }: Pick<SecretView, 'marks'>,
  wanted: Pick<WantedMarks, 'request' | 'deletionPolicy' | 'askedBy'>,
): WantedMarks {
  return { ...wanted, hash: marks.dataHash, version: marks.version, forced: marks.forced };
}

/**
 * isMarked is whether a Secret says what it should. Which of our managers its label names does not count, or two processes with
 * different settings would write it in turns; nor does for whom it was written, because others may share it.
 */
export function isMarked(
  secret: Pick<SecretView, 'isOurs' | 'isImmutable' | 'provider' | 'marks'>,
  wanted: WantedMarks,
): boolean {
  const { request } = wanted;
  if (secret.isOurs && (secret.provider !== request.provider || (request.immutable && !secret.isImmutable)))
    return false;
  const { askedBy: _, ...marks } = marksFor(wanted, secret.isOurs);
  return Object.entries(marks).every(
    ([mark, value]) => secret.marks[mark as keyof SecretMarks] === (value ?? undefined),
  );
}

/** newSecret is a Secret that does not exist yet. `at` is the time, RFC 3339. */
export function newSecret(namespace: string, wanted: WantedSecret, at: string): Secret {
  const { request, data } = wanted;
  const annotations = annotationsOf({ ...marksFor(wanted, true), syncedAt: at });
  return {
    metadata: { namespace, name: request.secretName, labels: labelsOf(wanted), annotations: withoutNulls(annotations) },
    type: request.type,
    // The API server drops an empty map; sending none makes the answer what was sent.
    ...(isEmpty(data) ? {} : { data }),
    ...(request.immutable ? { immutable: true } : {}),
  };
}

/** contentPatch is the strategic merge patch that replaces the whole content of a Secret of ours, if it is still what `secret` says. */
export function contentPatch(secret: SecretView, wanted: WantedSecret, at: string): object {
  const { request, data } = wanted;
  return {
    metadata: {
      ...guard(secret),
      labels: labelsOf(wanted),
      annotations: annotationsOf({ ...marksFor(wanted, true), ...newsFor(secret, wanted), syncedAt: at }),
    },
    data: replacing(data, secret),
    ...(request.immutable ? { immutable: true } : {}),
  };
}

/** markPatch changes what a Secret says about itself, and nothing else in it. */
export function markPatch(secret: SecretView, wanted: WantedMarks & Pick<WantedSecret, 'managedBy'>): object {
  const annotations = annotationsOf(marksFor(wanted, secret.isOurs));
  if (!secret.isOurs) return { metadata: { ...guard(secret), annotations } };
  const immutable = wanted.request.immutable ? { immutable: true } : {};
  return { metadata: { ...guard(secret), labels: labelsOf(wanted), annotations }, ...immutable };
}

/** mergePatch changes our keys in a Secret that is not ours: it becomes neither ours nor of our type. */
export function mergePatch(secret: SecretView, wanted: WantedSecret, at: string): object {
  const gone = [...parseKeys(secret.marks.managedKeys)].filter((key) => !Object.hasOwn(wanted.data, key));
  const managedKeys = formatKeys(Object.keys(wanted.data));
  return {
    metadata: {
      ...guard(secret),
      annotations: annotationsOf({ ...marksFor(wanted, false), ...newsFor(secret, wanted), syncedAt: at, managedKeys }),
    },
    data: { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted.data },
  };
}

/** othersKeys are the keys of a Secret that is not ours which have the names of ours. */
export function othersKeys(live: Secret, secret: SecretView, { data }: WantedSecret): readonly string[] {
  const ours = parseKeys(secret.marks.managedKeys);
  return Object.keys(live.data ?? {}).filter((key) => Object.hasOwn(data, key) && !ours.has(key));
}

type Marks = { readonly [Mark in keyof SecretMarks]?: string | null };

function marksFor(wanted: WantedMarks, isOurs: boolean): Marks {
  const { request, hash, version, forced, deletionPolicy, askedBy } = wanted;
  return {
    sourcePath: request.path,
    version: version ?? null,
    dataHash: hash ?? null,
    requestHash: request.hash,
    ...(forced === undefined ? {} : { forced }),
    askedBy,
    // What is not ours is never deleted.
    ...(isOurs ? { deletionPolicy: deletionPolicy === 'Delete' ? 'Delete' : null } : {}),
  };
}

/** What takes the place of nothing known, as in a Secret that was handed over, or of an edit, is no reason to restart anybody. */
function newsFor({ marks }: SecretView, { hash, restarts }: WantedSecret): Marks {
  if (marks.dataHash === undefined || marks.dataHash === hash) return {};
  return { restartFor: restarts ? hash : null };
}

function annotationsOf(marks: Marks): Changes {
  return Object.fromEntries(
    Object.entries(marks).map(([mark, value]) => [SECRET_ANNOTATIONS[mark as keyof Marks], value]),
  );
}

function labelsOf({ request, managedBy }: Pick<WantedSecret, 'request' | 'managedBy'>): Texts {
  return { [MANAGED_BY]: managedBy, [SECRET_LABELS.provider]: request.provider };
}

/** A patch with these is refused when the Secret was changed, or is another, since. */
function guard({ uid, resourceVersion }: SecretView): object {
  return { uid, resourceVersion };
}

/**
 * A strategic merge patch merges maps unless it says that one is replaced. No key of a Secret can have that name. Where there is no
 * map to replace, the API server would drop the whole of such a patch without a word.
 */
function replacing(data: Texts, { hasData }: SecretView): object | null {
  if (isEmpty(data)) return null;
  return hasData ? { $patch: 'replace', ...data } : data;
}

function withoutNulls(values: Changes): Texts {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null));
}

function isEmpty(values: Texts): boolean {
  return Object.keys(values).length === 0;
}
