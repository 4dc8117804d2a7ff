import { describe, expect, it } from 'vitest';
import { choosePrimary, type PoolDevice, type PrimaryInput } from './primary.ts';

/** Devices A on node-a, B on node-b, …: `a` is not available, `A?` has not been synced since it returned. */
function devices(text: string): readonly PoolDevice[] {
  return text.split(' ').map((each) => {
    const serial = each.charAt(0).toUpperCase();
    const nodeName = `node-${serial.toLowerCase()}`;
    return { serial, nodeName, available: each.charAt(0) === serial, isSynced: !each.endsWith('?') };
  });
}

const choose = (text: string, change: Partial<PrimaryInput> = {}) =>
  choosePrimary({ devices: devices(text), policy: 'Active', autoFailover: true, ...change });

describe('the primary device', () => {
  it.each<readonly [string, string, Partial<PrimaryInput>, string | undefined, number]>([
    ['is the one with the lowest serial number', 'C B A', {}, 'A', 0],
    ['is one that is available', 'a B', {}, 'B', 0],
    ['stays the same', 'A B', { incumbent: 'B' }, 'B', 0],
    ['is on the preferred node', 'A B', { incumbent: 'A', primaryNode: 'node-b' }, 'B', 0],
    ['is elsewhere while the preferred node has none', 'A b', { incumbent: 'B', primaryNode: 'node-b' }, 'A', 1],
    ['returns to the preferred node after a sync', 'A B?', { incumbent: 'A', primaryNode: 'node-b' }, 'A', 0],
    ['is on the preferred node at the start', 'A B?', { primaryNode: 'node-b' }, 'B', 0],
    ['is on the preferred node if nothing else is left', 'a B?', { incumbent: 'A', primaryNode: 'node-b' }, 'B', 1],
    ['is replaced when it is lost', 'a B C', { incumbent: 'A' }, 'B', 1],
    ['is replaced by a synced one', 'a B? C', { incumbent: 'A' }, 'C', 1],
    ['is replaced by an unsynced one if there is no other', 'a B?', { incumbent: 'A' }, 'B', 1],
    ['is replaced when it is no longer listed', 'B C', { incumbent: 'A' }, 'B', 1],
    ['stays if no other one is available', 'a b', { incumbent: 'A' }, 'A', 0],
    ['stays without automatic failover', 'a B', { incumbent: 'A', autoFailover: false }, 'A', 0],
    ['stays without automatic failover if it is not listed', 'B', { incumbent: 'A', autoFailover: false }, 'A', 0],
    ['is chosen at the start without automatic failover', 'a B', { autoFailover: false }, 'B', 0],
    [
      'is on the preferred node without automatic failover',
      'a B?',
      { incumbent: 'A', autoFailover: false, primaryNode: 'node-b' },
      'B',
      1,
    ],
    ['is among the target nodes', 'A B C', { incumbent: 'A', targetNodes: ['node-b', 'node-c'] }, 'B', 0],
    ['may be beside the target nodes', 'A B C', { primaryNode: 'node-c', targetNodes: ['node-b'] }, 'C', 0],
  ])('%s: %s', (_what, text, change, primary, failovers) => {
    expect(choose(text, { failoverCount: 0, ...change })).toMatchObject({ primary, failoverCount: failovers });
  });

  it('does not exist without devices', () => {
    expect(choosePrimary({ devices: [], policy: 'Active', autoFailover: true })).toEqual({
      primary: undefined,
      primaryNode: undefined,
      isWritable: false,
      participants: [],
      mirroredNodes: [],
      failoverCount: 0,
    });
  });

  it('accepts writes only while it is available', () => {
    expect(choose('A B', { incumbent: 'A' })).toMatchObject({ isWritable: true, primaryNode: 'node-a' });
    expect(choose('a B', { incumbent: 'A', autoFailover: false })).toMatchObject({ isWritable: false });
    expect(choose('B', { incumbent: 'A', autoFailover: false })).toMatchObject({ primary: 'A', isWritable: false });
  });

  it('adds to the number of failovers', () => {
    expect(choose('a B', { incumbent: 'A', failoverCount: 4 }).failoverCount).toBe(5);
  });
});

describe('the participants', () => {
  it.each<readonly [string, string, Partial<PrimaryInput>, readonly string[], readonly string[]]>([
    ['are all devices, available or not', 'C b A', {}, ['A', 'B', 'C'], ['node-b', 'node-c']],
    ['are those of the target nodes', 'A B C', { targetNodes: ['node-b', 'node-c'] }, ['B', 'C'], ['node-c']],
    ['are the primary device alone without mirroring', 'A B', { policy: 'None' }, ['A'], []],
    [
      'are the others while the primary device is not listed',
      'B C',
      { incumbent: 'A', autoFailover: false },
      ['B', 'C'],
      ['node-b', 'node-c'],
    ],
  ])('%s', (_what, text, change, participants, mirroredNodes) => {
    expect(choose(text, change)).toMatchObject({ participants, mirroredNodes });
  });
});
