import { isObject, parseTime } from '@bowline/machinery';
import type { SecretMetadata } from '../token-service.ts';

/** MetadataRecord is the content of a metadata object. */
export interface MetadataRecord extends SecretMetadata {
  /** The SHA-256 of every value, by key. The older system does not write it. */
  readonly manifest: ReadonlyMap<string, string> | undefined;
}

/** EMPTY_METADATA describes a secret without metadata. */
export const EMPTY_METADATA: MetadataRecord = {
  version: 0,
  timestamp: undefined,
  isDeleted: false,
  description: undefined,
  labels: {},
  format: undefined,
  dataType: undefined,
  createdAt: undefined,
  source: undefined,
  manifest: undefined,
};

const [VERSION, TIMESTAMP, DELETED] = ['sync.version', 'sync.timestamp', 'sync.deleted'] as const;

/** RESERVED_LABELS are the labels of the metadata that record the version. Users cannot set them. */
export const RESERVED_LABELS: readonly string[] = [VERSION, TIMESTAMP, DELETED];

/** MAX_VERSION is the largest version: every number up to it is exact and has at most 15 digits. */
export const MAX_VERSION = 999_999_999_999_999;

/** formatMetadata returns the value of a metadata object. The same record always has the same value. */
export function formatMetadata(record: MetadataRecord): Buffer {
  const { version, timestamp, isDeleted, labels, manifest, ...others } = record;
  const reserved = { [VERSION]: String(version), [TIMESTAMP]: timestamp, [DELETED]: isDeleted ? 'true' : undefined };
  const sorted = (entries: readonly (readonly [string, string])[]) =>
    Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  return Buffer.from(
    JSON.stringify({
      description: others.description,
      labels: { ...sorted(Object.entries(labels)), ...reserved },
      format: others.format,
      dataType: others.dataType,
      createdAt: others.createdAt,
      source: others.source,
      manifest: manifest && sorted([...manifest]),
    }),
  );
}

/** parseMetadata returns the content of a metadata object; undefined if it is damaged. Unknown members are ignored. */
export function parseMetadata(value: Buffer): MetadataRecord | undefined {
  let json: unknown;
  try {
    json = JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isObject(json)) return undefined;
  const labels = new Map(texts(json.labels));
  const version = labels.get(VERSION) ?? '';
  return {
    version: /^\d{1,15}$/.test(version) ? Number(version) : 0,
    timestamp: labels.get(TIMESTAMP),
    isDeleted: labels.get(DELETED) === 'true',
    description: text(json.description),
    labels: Object.fromEntries([...labels].filter(([name]) => !RESERVED_LABELS.includes(name))),
    format: text(json.format),
    dataType: text(json.dataType),
    createdAt: text(json.createdAt),
    source: text(json.source),
    manifest: parseManifest(json.manifest),
  };
}

function parseManifest(json: unknown): ReadonlyMap<string, string> | undefined {
  if (!isObject(json)) return undefined;
  const entries = texts(json);
  const isComplete = entries.length === Object.keys(json).length;
  return isComplete && entries.every(([, hash]) => /^[0-9a-f]{64}$/.test(hash)) ? new Map(entries) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function texts(json: unknown): [string, string][] {
  if (!isObject(json)) return [];
  return Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}

/** compareRecords orders records of one secret from the oldest to the newest. */
export function compareRecords(a: MetadataRecord, b: MetadataRecord): number {
  return a.version - b.version || timeOf(a) - timeOf(b) || Buffer.compare(formatMetadata(a), formatMetadata(b));
}

function timeOf({ timestamp }: MetadataRecord): number {
  try {
    return parseTime(timestamp ?? '');
  } catch {
    return 0;
  }
}

/** metadataOf returns the metadata without the part that only the layout needs. */
export function metadataOf({ manifest: _, ...metadata }: MetadataRecord): SecretMetadata {
  return metadata;
}
