import { describe, expect, it } from 'vitest';
import type { HSMSecret } from '../api/hsm-secret.ts';
import { checksumOf } from '../token/checksum.ts';
import type { SecretData, StoredSecret } from '../token/token-service.ts';
import { desiredMetadata, desiredSecret, requestHash } from './desired.ts';
import { secretOf } from './sample-objects.test-support.ts';

const device = { namespace: 'hsm', name: 'pico' };
const deliveryOf = (spec: Partial<HSMSecret['spec']> = {}) => ({ object: secretOf(spec), device, path: 'apps/db' });

function storedOf(data: SecretData, metadata: Partial<StoredSecret['metadata']> = {}): StoredSecret {
  const none = { timestamp: undefined, description: undefined, format: undefined, dataType: undefined };
  return {
    data,
    checksum: checksumOf(data),
    metadata: {
      ...{ ...none, version: 1, isDeleted: false, labels: {}, createdAt: undefined, source: undefined },
      ...metadata,
    },
  };
}

const data = { user: Buffer.from('admin'), password: Buffer.from([0, 255]) };

describe('the desired Secret', () => {
  it('has all keys, and the checksum of the device', () => {
    const stored = storedOf(data, { description: 'the database', dataType: 'json' });
    expect(desiredSecret(deliveryOf(), stored)).toMatchObject({
      content: { data: { user: 'YWRtaW4=', password: 'AP8=' } },
      hash: stored.checksum,
      members: { type: 'Opaque' },
      labels: { 'app.kubernetes.io/managed-by': 'bowline-hsm-secrets', 'hsm.j5t.io/device': 'pico' },
      operatorAnnotations: {
        owner: 'database',
        deviceChecksum: stored.checksum,
        path: 'apps/db',
        description: 'the database',
        dataType: 'json',
        // Removed if it was set before.
        format: null,
        source: null,
      },
    });
  });

  it('has the selected keys under their new names', () => {
    const keys = [{ from: 'user', to: 'user.name' }];
    expect(desiredSecret(deliveryOf({ keys }), storedOf(data))).toMatchObject({
      content: { data: { 'user.name': 'YWRtaW4=' } },
    });
  });

  it('leaves alone what is not known without a read', () => {
    const { content, operatorAnnotations } = desiredMetadata(deliveryOf(), 'sha256:1');
    expect([content, operatorAnnotations.description]).toEqual([undefined, undefined]);
  });

  it.each<[string, Partial<HSMSecret['spec']>, SecretData, string]>([
    ['a missing key', { keys: [{ from: 'other', to: 'a' }] }, data, 'KeyInvalid'],
    ['an inherited key', { keys: [{ from: 'constructor', to: 'a' }] }, data, 'KeyInvalid'],
    ['a key that a Secret cannot have', {}, { '..a': Buffer.from('x') }, 'KeyInvalid'],
    ['more than 1 MiB', {}, { a: Buffer.alloc(1_048_577) }, 'TooLarge'],
  ])('does not exist for %s', (_, spec, stored, reason) => {
    expect(desiredSecret(deliveryOf(spec), storedOf(stored))).toMatchObject({ reason });
  });
});

it('hashes what the content follows from, and nothing else', () => {
  const first = requestHash(deliveryOf());
  expect(requestHash(deliveryOf({ syncInterval: 5, autoSync: false, deletionPolicy: 'Retain' }))).toBe(first);
  const others = [
    requestHash(deliveryOf({ secretType: 'other' })),
    requestHash(deliveryOf({ keys: [{ from: 'a', to: 'b' }] })),
    requestHash({ ...deliveryOf(), path: 'apps/other' }),
    requestHash({ ...deliveryOf(), device: { ...device, name: 'other' } }),
  ];
  expect(new Set([first, ...others]).size).toBe(5);
});
