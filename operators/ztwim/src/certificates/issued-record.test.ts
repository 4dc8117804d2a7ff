import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import type { SecretView } from '../operand/referenced-secrets.ts';
import { currentRecord, writeRecord } from './issued-record.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const record = { request: 'names and CAs', content: 'hash', checkAt: NOW + 60_000 };
const expected = { request: record.request, labels: { app: 'oidc' }, owner: 'operand', now: NOW };

function secret(annotation: string | undefined, changes: Partial<SecretView['metadata']> = {}): SecretView {
  return {
    metadata: {
      name: 'cert',
      labels: { app: 'oidc', other: 'x' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Operand', name: 'cluster', uid: 'operand' }],
      ...(annotation === undefined ? {} : { annotations: { [ANNOTATIONS.issued]: annotation } }),
      ...changes,
    },
    keys: [],
    hash: 'hash',
    unquotable: [],
  };
}

describe('a record', () => {
  it('is current while the Secret is as it was written', () => {
    expect(currentRecord(secret(writeRecord(record)), expected)).toEqual(record);
  });

  it.each([
    ['there is no Secret', undefined, expected],
    ['there is no record', secret(undefined), expected],
    ['it was edited', secret('{"request":1}'), expected],
    ['it is no JSON', secret('text'), expected],
    ['its time is unreadable', secret(JSON.stringify({ ...record, checkAt: 'soon' })), expected],
    ['the content was changed', { ...secret(writeRecord(record)), hash: 'other' }, expected],
    ['a label was removed', secret(writeRecord(record), { labels: {} }), expected],
    ['the owner was removed', secret(writeRecord(record), { ownerReferences: [] }), expected],
    ['names or CAs differ', secret(writeRecord(record)), { ...expected, request: 'others' }],
    ['it is time to check', secret(writeRecord(record)), { ...expected, now: record.checkAt }],
  ])('is not current if %s', (_, view, given) => {
    expect(currentRecord(view, given)).toBeUndefined();
  });
});
