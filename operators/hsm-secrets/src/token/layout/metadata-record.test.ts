import { describe, expect, it } from 'vitest';
import {
  compareRecords,
  EMPTY_METADATA,
  formatMetadata,
  type MetadataRecord,
  parseMetadata,
} from './metadata-record.ts';

const HASH = 'a'.repeat(64);
const RECORD: MetadataRecord = {
  version: 3,
  timestamp: '2026-01-01T00:00:00.000000Z',
  isDeleted: false,
  description: 'a database',
  labels: { team: 'a', 'app.kubernetes.io/name': 'db' },
  format: 'opaque',
  dataType: 'plaintext',
  createdAt: '2025-01-01T00:00:00Z',
  source: 'cli',
  manifest: new Map([['password', HASH]]),
};

describe('the metadata of a secret', () => {
  it('is written as JSON in the layout of the older system, with a manifest', () => {
    expect(JSON.parse(formatMetadata(RECORD).toString())).toEqual({
      description: 'a database',
      labels: {
        team: 'a',
        'app.kubernetes.io/name': 'db',
        'sync.version': '3',
        'sync.timestamp': '2026-01-01T00:00:00.000000Z',
      },
      format: 'opaque',
      dataType: 'plaintext',
      createdAt: '2025-01-01T00:00:00Z',
      source: 'cli',
      manifest: { password: HASH },
    });
  });

  it.each<readonly [string, MetadataRecord]>([
    ['a secret', RECORD],
    ['a tombstone', { ...EMPTY_METADATA, version: 4, isDeleted: true, manifest: new Map() }],
    ['a secret with a key named __proto__', { ...RECORD, manifest: new Map([['__proto__', HASH]]) }],
    ['an unversioned secret', { ...EMPTY_METADATA, manifest: new Map([['a', HASH]]) }],
  ])('survives writing and reading: %s', (_, record) => {
    expect(parseMetadata(formatMetadata(record))).toEqual(record);
  });

  it('has the same bytes for the same content', () => {
    const other = { ...RECORD, labels: { 'app.kubernetes.io/name': 'db', team: 'a' } };
    expect(formatMetadata(other)).toEqual(formatMetadata(RECORD));
  });

  it.each<readonly [string, Partial<MetadataRecord>]>([
    ['{}', {}],
    ['{"labels": {"sync.version": "7", "sync.deleted": "true"}}', { version: 7, isDeleted: true }],
    ['{"labels": {"sync.version": "-1", "sync.deleted": "false"}}', {}],
    ['{"labels": {"sync.version": "1e9", "x": 1, "y": "z"}}', { labels: { y: 'z' } }],
    ['{"labels": [1], "description": 5, "source": "api"}', { source: 'api' }],
    ['{"manifest": {"a": "not a hash"}}', {}],
    ['{"manifest": {"a": 1}}', {}],
    ['{"manifest": []}', {}],
    ['{"manifest": {}}', { manifest: new Map() }],
    ['{"unknown": {"a": 1}}', {}],
  ])('is read from %s', (text, expected) => {
    expect(parseMetadata(Buffer.from(text))).toEqual({ ...EMPTY_METADATA, ...expected });
  });

  it.each(['', 'null', '[]', '"a"', '{"a":', Buffer.from([0xff])])('is damaged if it is %j', (text) => {
    expect(parseMetadata(Buffer.from(text))).toBeUndefined();
  });
});

describe('the order of versions', () => {
  it.each<readonly [string, Partial<MetadataRecord>, Partial<MetadataRecord>]>([
    ['a higher version', { version: 3 }, { version: 12 }],
    ['a later time', { timestamp: '2026-01-01T00:00:00Z' }, { timestamp: '2026-01-01T00:00:00.5Z' }],
    [
      'a later time in another time zone',
      { timestamp: '2026-01-01T02:00:00+02:00' },
      { timestamp: '2026-01-01T00:00:01Z' },
    ],
    ['any time over none', { timestamp: 'yesterday' }, { timestamp: '2026-01-01T00:00:00Z' }],
    ['the bytes, if all else is equal', { source: 'a' }, { source: 'b' }],
  ])('prefers %s', (_, older, newer) => {
    const [a, b] = [
      { ...EMPTY_METADATA, ...older },
      { ...EMPTY_METADATA, ...newer },
    ];
    expect(Math.sign(compareRecords(a, b))).toBe(-1);
    expect(Math.sign(compareRecords(b, a))).toBe(1);
  });
});
