import { hash as hashOf } from 'node:crypto';
import type { ConfigMap, ObjectMeta } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import { ANNOTATIONS } from '../api/names.ts';
import { contentFrom, contentOf, entriesOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import { formatKeys, managedKeysOf } from './managed-keys.ts';
import { type ManagedMetadata, NO_METADATA, parseManagedMetadata } from './managed-metadata.ts';

/** CopyView is what the cache keeps of a copy: enough to tell whether it is as it should be, and none of its values. */
export interface CopyView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  readonly isImmutable: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Who controls it by an owner reference, as `kind name`. Copies of ours have no owner. */
  readonly controller: string | undefined;
  /** Whether it holds any text, and any bytes. */
  readonly hasData: boolean;
  readonly hasBinaryData: boolean;
  /** The hash of all that it holds. */
  readonly hash: string;
  /** The hash of those of its keys that are ours. */
  readonly managedHash: string;
  readonly marks: CopyMarks;
  /** Which labels and annotations the spec gave it. */
  readonly managedMetadata: ManagedMetadata;
  /** The hash of their values as they are. */
  readonly metadataHash: string;
}

/** CopyMarks are what a copy's annotations say; see `ANNOTATIONS`. */
export interface CopyMarks {
  readonly syncUid: string | undefined;
  readonly source: string | undefined;
  readonly sourceUid: string | undefined;
  readonly appliedHash: string | undefined;
  readonly syncedAt: string | undefined;
  readonly isAdopted: boolean;
  readonly previousManager: string | undefined;
  /** Whether it remembers what both sides of a two-way sync last agreed on. */
  readonly hasBase: boolean;
}

/** copyView is the view of the cache; see `viewOf`. */
export const copyView = project(viewOf);

/** viewOf is what the cache keeps of a ConfigMap. */
export function viewOf(configMap: ConfigMap): CopyView {
  const { metadata = {} } = configMap;
  const { namespace = '', name = '', uid = '', resourceVersion = '', labels = {}, annotations = {} } = metadata;
  const managedMetadata = parseManagedMetadata(annotations[ANNOTATIONS.managedMetadata]);
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isTerminating: metadata.deletionTimestamp !== undefined,
    isImmutable: configMap.immutable === true,
    labels,
    controller: controllerOf(metadata),
    hasData: Object.keys(configMap.data ?? {}).length > 0,
    hasBinaryData: Object.keys(configMap.binaryData ?? {}).length > 0,
    ...hashesOf(configMap, metadata),
    marks: {
      syncUid: annotations[ANNOTATIONS.syncUid],
      source: annotations[ANNOTATIONS.source],
      sourceUid: annotations[ANNOTATIONS.sourceUid],
      appliedHash: annotations[ANNOTATIONS.appliedHash],
      syncedAt: timeOf(annotations[ANNOTATIONS.syncedAt]),
      isAdopted: annotations[ANNOTATIONS.adopted] === 'true',
      previousManager: annotations[ANNOTATIONS.previousManager],
      hasBase: annotations[ANNOTATIONS.base] !== undefined,
    },
    managedMetadata,
    metadataHash: metadataHash(managedMetadata, metadata),
  };
}

/** Anybody may have written anything; the status, where it is shown, takes times only. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? text : undefined;
}

function controllerOf({ ownerReferences = [] }: ObjectMeta): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return owner && `${owner.kind} ${owner.name}`;
}

function hashesOf(configMap: ConfigMap, metadata: ObjectMeta): Pick<CopyView, 'hash' | 'managedHash'> {
  const content = contentOf(configMap);
  const hash = contentHash(content);
  const listed = metadata.annotations?.[ANNOTATIONS.managedKeys];
  // In most copies every key is ours, and nothing more need be looked at.
  if (listed === formatKeys([...Object.keys(content.data), ...Object.keys(content.binaryData)])) {
    return { hash, managedHash: hash };
  }
  const ours = managedKeysOf(metadata);
  if (ours === undefined) return { hash, managedHash: hash };
  const managed = [...entriesOf(content)].filter(([key]) => ours.has(key));
  return { hash, managedHash: contentHash(contentFrom(managed)) };
}

/** metadataHash is the hash of the values that some labels and annotations have, absent ones included. */
export function metadataHash(
  names: ManagedMetadata,
  { labels = {}, annotations = {} }: Pick<ObjectMeta, 'labels' | 'annotations'>,
): string {
  if (names === NO_METADATA) return '';
  const values = [
    names.labels.map((each) => [each, labels[each]]),
    names.annotations.map((each) => [each, annotations[each]]),
  ];
  return hashOf('sha256', JSON.stringify(values), 'base64');
}
