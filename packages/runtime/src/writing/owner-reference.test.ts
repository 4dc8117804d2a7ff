import { ConfigMap, Namespace, type OwnerReference } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { assertCanOwn, type Owner, ownerReference, ownerReferencesWith, relationTo } from './owner-reference.ts';
import { setOwner } from './owner-writes.ts';

const owner: Owner = { resource: ConfigMap, object: { metadata: { namespace: 'default', name: 'a', uid: 'new' } } };
const right = ownerReference(owner);
const other: OwnerReference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd' };
const withReferences = (...ownerReferences: OwnerReference[]) => ({
  metadata: { namespace: 'default', name: 'child', uid: 'c', resourceVersion: '5', ownerReferences },
});

describe('ownerReference', () => {
  it('controls and blocks deletion by default', () => {
    expect(right).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'a',
      uid: 'new',
      controller: true,
      blockOwnerDeletion: true,
    });
    expect(ownerReference(owner, { controller: false, blockOwnerDeletion: false })).toMatchObject({
      controller: false,
      blockOwnerDeletion: false,
    });
  });

  it.each([[{ name: 'a' }], [{ uid: 'a' }], [undefined]])('refuses an owner with metadata %j', (metadata) => {
    expect(() => ownerReference({ resource: ConfigMap, object: { metadata } })).toThrow(
      expect.objectContaining({ code: 'BOWLINE_OWNER_INVALID' }) as Error,
    );
  });
});

describe('assertCanOwn', () => {
  const clusterOwner: Owner = { resource: Namespace, object: { metadata: { name: 'n', uid: 'n' } } };
  it.each<[what: string, owner: Owner, namespace: string | undefined, allowed: boolean]>([
    ['the same namespace', owner, 'default', true],
    ['another namespace', owner, 'other', false],
    ['a cluster-scoped object', owner, undefined, false],
    ['a cluster-scoped owner of a namespaced object', clusterOwner, 'default', true],
    ['a cluster-scoped owner of a cluster-scoped object', clusterOwner, undefined, true],
  ])('checks %s', (_, by, namespace, allowed) => {
    const check = () => assertCanOwn(by, ConfigMap, { namespace, name: 'child' });
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'BOWLINE_OWNER_SCOPE' }) as Error);
  });
});

describe('relationTo', () => {
  it.each<[relation: string, references: OwnerReference[]]>([
    ['none', []],
    ['none', [other]],
    ['ours', [other, right]],
    ['stale', [{ ...right, uid: 'old' }]],
    ['stale', [{ ...right, apiVersion: 'v2', uid: 'old' }]],
    ['foreign', [{ ...right, apiVersion: 'apps/v1', uid: 'old' }]],
    ['foreign', [{ ...other, controller: true }]],
  ])('is %s for %j', (relation, references) => {
    expect(relationTo(owner, withReferences(...references))).toBe(relation);
  });
});

describe('ownerReferencesWith', () => {
  it('does not change correct references', () => {
    const object = withReferences(other, right);
    expect(ownerReferencesWith(owner, object)).toBe(object.metadata.ownerReferences);
  });

  it.each<[what: string, before: OwnerReference[], after: OwnerReference[]]>([
    ['adds a missing one', [other], [other, right]],
    ['repairs an outdated uid in its place', [{ ...right, uid: 'old' }, other], [right, other]],
    ['repairs an outdated version', [{ ...right, apiVersion: 'v0' }], [right]],
    ['merges two references', [{ ...right, uid: 'old' }, other, right], [right, other]],
    ['makes it the controller', [{ ...right, controller: false }], [right]],
  ])('%s', (_, before, after) => {
    expect(ownerReferencesWith(owner, withReferences(...before))).toEqual(after);
  });

  it('refuses a second controller, but not a second owner', () => {
    const object = withReferences({ ...other, controller: true });
    expect(() => ownerReferencesWith(owner, object)).toThrow(
      expect.objectContaining({
        code: 'BOWLINE_OWNER_CONFLICT',
        message: expect.stringContaining('Deployment d controls it') as unknown,
      }) as Error,
    );
    expect(ownerReferencesWith(owner, object, { controller: false })).toHaveLength(2);
  });
});

describe('setOwner', () => {
  const options = { fieldManager: 'm' };
  it('reads from the server before it repairs a reference, and repairs it only at that resourceVersion', async () => {
    const transport = new ScriptedTransport({ body: owner.object }, { body: withReferences(right) });
    const client = createClient({ transport });
    const object = withReferences({ ...right, uid: 'old' }, other);
    expect(await setOwner(client, ConfigMap, object, owner, options)).toMatchObject(withReferences(right));
    expect(transport.requests.map(({ method }) => method)).toEqual(['GET', 'PATCH']);
    expect(transport.sent(1)).toEqual({
      metadata: { uid: 'c', resourceVersion: '5', ownerReferences: [right, other] },
    });
  });

  it('does not repair a reference when its own copy of the owner is outdated', async () => {
    const transport = new ScriptedTransport({ body: { metadata: { ...owner.object.metadata, uid: 'newest' } } });
    const object = withReferences({ ...right, uid: 'newest' });
    await expect(setOwner(createClient({ transport }), ConfigMap, object, owner, options)).rejects.toMatchObject({
      code: 'BOWLINE_OWNER_STALE',
      retryable: true,
    });
  });

  it('sends nothing when the reference is correct, and rejects one that the garbage collector would act on', async () => {
    const client = createClient({ transport: new ScriptedTransport() });
    const object = withReferences(right);
    expect(await setOwner(client, ConfigMap, object, owner, options)).toBe(object);
    const elsewhere = { metadata: { namespace: 'other', name: 'child' } };
    await expect(setOwner(client, ConfigMap, elsewhere, owner, options)).rejects.toMatchObject({
      code: 'BOWLINE_OWNER_SCOPE',
    });
  });
});
