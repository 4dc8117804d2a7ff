import { ConfigMap, type OwnerReference, Secret } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../objects/object-facts.ts';
import { OwnerGraph } from './owner-graph.ts';

/** A graph that records what it requests. */
function setUp() {
  const asked: string[] = [];
  const graph = new OwnerGraph(
    { examine: ({ name }) => asked.push(`examine ${name}`), orphan: ({ name }) => asked.push(`orphan ${name}`) },
    (_, kind) => (kind === 'ConfigMap' ? ConfigMap : kind === 'Secret' ? Secret : undefined),
  );
  const put = (name: string, owners: readonly string[] = [], finalizers?: readonly string[]): void => {
    const metadata = { name, namespace: 'a', uid: `uid-${name}`, ownerReferences: owners.map((owner) => refer(owner)) };
    const going = finalizers ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers } : {};
    graph.seen(ConfigMap, factsOf({ ...metadata, ...going }));
  };
  /** told returns and clears the recorded requests. */
  const told = (): readonly string[] => [...new Set(asked.splice(0))];
  return { graph, put, told };
}

function refer(name: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}`, blockOwnerDeletion: true };
}

describe('an owner graph', () => {
  it('holds nothing of objects that neither own nor are owned', () => {
    const { graph, put, told } = setUp();
    for (let index = 0; index < 20_000; index++) put(`alone-${index}`);
    expect(graph.size).toBe(0);
    expect(told()).toEqual([]);
  });

  it('doubts an owner that it has not seen, and trusts one that it has', () => {
    const { graph, put, told } = setUp();
    put('child', ['owner']);
    expect(told()).toEqual(['examine child']);
    put('child', ['owner']);
    expect(told()).toEqual([]);
    put('owner');
    put('other', ['owner']);
    expect(told()).toEqual([]);
    expect(graph.size).toBe(3);
  });

  it('doubts a reference that has the uid right and the rest wrong', () => {
    const { graph, put, told } = setUp();
    put('child', ['owner']);
    put('owner');
    told();
    for (const wrong of [{ name: 'nobody' }, { kind: 'Secret' }, { apiVersion: 'apps/v1' }]) {
      const name = Object.keys(wrong).join();
      const metadata = { name, namespace: 'a', uid: name, ownerReferences: [{ ...refer('owner'), ...wrong }] };
      graph.seen(ConfigMap, factsOf(metadata));
      expect(told()).toEqual([`examine ${name}`]);
    }
    const elsewhere = { name: 'far', namespace: 'b', uid: 'far', ownerReferences: [refer('owner')] };
    graph.seen(ConfigMap, factsOf(elsewhere));
    expect(told()).toEqual(['examine far']);
  });

  it('looks at the dependents of an owner that is deleted, or missing from a list', () => {
    const { graph, put, told } = setUp();
    for (const name of ['one', 'two']) {
      put(`child-${name}`, [name]);
      put(name);
    }
    told();
    graph.gone('uid-one');
    expect(told()).toEqual(['examine child-one']);
    graph.complete(ConfigMap, new Set(['uid-child-one', 'uid-child-two']));
    expect(told()).toEqual(['examine child-two']);
    graph.gone('uid-child-one');
    graph.gone('uid-child-two');
    expect(graph.size).toBe(0);
  });

  it('hurries the dependents of an owner that waits for them, and looks at it again when one is gone', () => {
    const { graph, put, told } = setUp();
    put('child', ['owner']);
    put('owner');
    told();
    put('owner', [], ['foregroundDeletion']);
    expect(told()).toEqual(['examine owner', 'examine child']);
    graph.gone('uid-child');
    expect(told()).toEqual(['examine owner']);
    graph.gone('uid-owner');
    expect(graph.size).toBe(0);
  });

  it('asks for dependents to forget an owner once, also when there are none', () => {
    const { put, told } = setUp();
    put('owner', [], ['orphan']);
    put('owner', [], ['orphan']);
    expect(told()).toEqual(['orphan owner']);
  });

  it('knows again what referred to a kind that was not served', () => {
    const { graph, told } = setUp();
    const ownerReferences = [{ ...refer('owner'), kind: 'Unknown' }];
    graph.seen(ConfigMap, factsOf({ name: 'child', namespace: 'a', uid: 'child', ownerReferences }));
    told();
    expect([...graph.unresolved()].map(({ name }) => name)).toEqual(['child']);
  });
});
