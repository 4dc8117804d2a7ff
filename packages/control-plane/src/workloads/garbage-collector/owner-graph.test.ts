import { ConfigMap, type OwnerReference, Secret } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../objects/object-facts.ts';
import { OwnerGraph } from './owner-graph.ts';

/** A graph that records what it requests. */
function setUp() {
  const requested: string[] = [];
  const graph = new OwnerGraph(
    {
      attemptToDelete: ({ name }) => requested.push(`delete ${name}`),
      attemptToOrphan: ({ name }) => requested.push(`orphan ${name}`),
    },
    (_, kind) => (kind === 'ConfigMap' ? ConfigMap : kind === 'Secret' ? Secret : undefined),
  );
  const put = (name: string, owners: readonly string[] = [], finalizers?: readonly string[]): void => {
    const metadata = { name, namespace: 'a', uid: `uid-${name}`, ownerReferences: owners.map((owner) => refer(owner)) };
    const going = finalizers ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers } : {};
    graph.upsert(ConfigMap, factsOf({ ...metadata, ...going }));
  };
  /** takeRequests returns and clears the recorded requests. */
  const takeRequests = (): readonly string[] => [...new Set(requested.splice(0))];
  return { graph, put, takeRequests };
}

function refer(name: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}`, blockOwnerDeletion: true };
}

describe('an owner graph', () => {
  it('stores no objects that have neither owners nor dependents', () => {
    const { graph, put, takeRequests } = setUp();
    for (let index = 0; index < 20_000; index++) put(`alone-${index}`);
    expect(graph.size).toBe(0);
    expect(takeRequests()).toEqual([]);
  });

  it('checks an object with an unobserved owner, and not one with an observed owner', () => {
    const { graph, put, takeRequests } = setUp();
    put('child', ['owner']);
    expect(takeRequests()).toEqual(['delete child']);
    put('child', ['owner']);
    expect(takeRequests()).toEqual([]);
    put('owner');
    put('other', ['owner']);
    expect(takeRequests()).toEqual([]);
    expect(graph.size).toBe(3);
  });

  it('checks an object whose owner reference matches only by uid', () => {
    const { graph, put, takeRequests } = setUp();
    put('child', ['owner']);
    put('owner');
    takeRequests();
    for (const wrong of [{ name: 'other' }, { kind: 'Secret' }, { apiVersion: 'apps/v1' }]) {
      const name = Object.keys(wrong).join();
      const metadata = { name, namespace: 'a', uid: name, ownerReferences: [{ ...refer('owner'), ...wrong }] };
      graph.upsert(ConfigMap, factsOf(metadata));
      expect(takeRequests()).toEqual([`delete ${name}`]);
    }
    const elsewhere = { name: 'far', namespace: 'b', uid: 'far', ownerReferences: [refer('owner')] };
    graph.upsert(ConfigMap, factsOf(elsewhere));
    expect(takeRequests()).toEqual(['delete far']);
  });

  it('checks the dependents of an owner that is deleted, or missing from a list', () => {
    const { graph, put, takeRequests } = setUp();
    for (const name of ['one', 'two']) {
      put(`child-${name}`, [name]);
      put(name);
    }
    takeRequests();
    graph.delete('uid-one');
    expect(takeRequests()).toEqual(['delete child-one']);
    graph.deleteMissing(ConfigMap, new Set(['uid-child-one', 'uid-child-two']));
    expect(takeRequests()).toEqual(['delete child-two']);
    graph.delete('uid-child-one');
    graph.delete('uid-child-two');
    expect(graph.size).toBe(0);
  });

  it('checks the dependents of an owner in foreground deletion, and the owner again when one is gone', () => {
    const { graph, put, takeRequests } = setUp();
    put('child', ['owner']);
    put('owner');
    takeRequests();
    put('owner', [], ['foregroundDeletion']);
    expect(takeRequests()).toEqual(['delete owner', 'delete child']);
    graph.delete('uid-child');
    expect(takeRequests()).toEqual(['delete owner']);
    graph.delete('uid-owner');
    expect(graph.size).toBe(0);
  });

  it('requests the orphaning of dependents once, even if there are none', () => {
    const { put, takeRequests } = setUp();
    put('owner', [], ['orphan']);
    put('owner', [], ['orphan']);
    expect(takeRequests()).toEqual(['orphan owner']);
  });

  it('returns the objects whose owner is of a kind that is not served', () => {
    const { graph, takeRequests } = setUp();
    const ownerReferences = [{ ...refer('owner'), kind: 'Unknown' }];
    graph.upsert(ConfigMap, factsOf({ name: 'child', namespace: 'a', uid: 'child', ownerReferences }));
    takeRequests();
    expect([...graph.unresolved()].map(({ name }) => name)).toEqual(['child']);
  });
});
