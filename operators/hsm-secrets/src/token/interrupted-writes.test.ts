import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { Interruption, interruptible } from './interruption.test-support.ts';
import { SecretStore } from './secret-store.ts';
import { addObjects, labelsOn, loggedIn, softwareToken } from './software-token.test-support.ts';
import { SoftwareToken, type SoftwareTokenSnapshot } from './software-token.ts';

const clock = new VirtualClock();
const at = (timestamp: string, version: number) => ({ timestamp, version });
const data = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value)]));

const SECRET = (store: SecretStore): void =>
  void store.write('db', data({ a: '1', b: '2', data: '3' }), {}, at('2026-01-01T00:00:00Z', 5));
const OLDER = [
  ['db', '1'],
  ['db/a', '2'],
  ['db/_metadata', '{"labels":{"sync.version":"5"}}'],
  ['db/nested', '3'],
  ['db/nested/_metadata', '{}'],
] as const;

interface Case {
  readonly prepare: (device: SoftwareToken) => void;
  readonly work: (store: SecretStore) => unknown;
}

const onStore = (work: (store: SecretStore) => void) => (device: SoftwareToken) =>
  work(new SecretStore(loggedIn(device), clock));

const CASES: Readonly<Record<string, Case>> = {
  'a first write': { prepare: () => undefined, work: (store) => store.write('db', data({ a: '1', b: '2' }), {}) },
  'a write that keeps, changes, adds and drops keys': {
    prepare: onStore(SECRET),
    work: (store) => store.write('db', data({ a: '1', b: 'new', c: '4' }), {}),
  },
  'a write of the same values': {
    prepare: onStore(SECRET),
    work: (store) => store.write('db', data({ a: '1', b: '2', data: '3' }), {}),
  },
  'a write with a lower version': {
    prepare: onStore(SECRET),
    work: (store) => store.write('db', data({ a: '1', b: 'new' }), {}, at('2027-01-01T00:00:00Z', 3)),
  },
  'a write with the same version and an earlier time': {
    prepare: onStore(SECRET),
    work: (store) => store.write('db', data({ a: 'new', b: '2' }), {}, at('2025-01-01T00:00:00Z', 5)),
  },
  'a write of nothing': { prepare: onStore(SECRET), work: (store) => store.write('db', {}, {}) },
  'a removed key': { prepare: onStore(SECRET), work: (store) => store.remove('db', 'b') },
  'a removed secret': { prepare: onStore(SECRET), work: (store) => store.remove('db', undefined) },
  'a tombstone by mirroring': {
    prepare: () => undefined,
    work: (store) => store.remove('db', undefined, at('2027-01-01T00:00:00Z', 3)),
  },
  'a write after a removal': {
    prepare: onStore((store) => {
      SECRET(store);
      store.remove('db', undefined);
    }),
    work: (store) => store.write('db', data({ a: '1' }), {}),
  },
  'a purge': {
    prepare: onStore((store) => {
      SECRET(store);
      store.remove('db', undefined);
    }),
    work: (store) => store.purge('db', 6),
  },
  'a write over the older layout': {
    prepare: (device) => addObjects(device, OLDER),
    work: (store) => store.write('db', data({ a: '2', data: 'new', nested: '3' }), {}),
  },
  'a removed key in the older layout': {
    prepare: (device) => addObjects(device, OLDER),
    work: (store) => store.remove('db', 'a'),
  },
  'a removed secret in the older layout': {
    prepare: (device) => addObjects(device, OLDER),
    work: (store) => store.remove('db', undefined),
  },
  'a write over a damaged secret': {
    prepare: (device) => {
      onStore(SECRET)(device);
      const token = loggedIn(device);
      for (const { handle, label } of token.find('hsm-secrets-operator')) if (label === 'db/b') token.destroy(handle);
    },
    work: (store) => store.write('db', data({ a: 'new', b: '2', data: '3' }), {}),
  },
};

/** The write that follows an interrupted one. */
const LAST = (store: SecretStore) => store.write('db', data({ b: '2', nested: '3', z: '4' }), {}, { version: 9 });

/** contentOf returns everything that readers see. */
function contentOf(device: SoftwareToken): string {
  const store = new SecretStore(loggedIn(device), clock);
  return JSON.stringify(
    store.list('').map(({ path, version, isDeleted, keys }) => {
      const values = isDeleted ? {} : store.read(path).data;
      return { path, version, isDeleted, values: keys.map((key) => [key, values[key]?.toString()]) };
    }),
  );
}

function* interruptions(): Generator<Interruption> {
  for (let call = 1; ; call++) {
    for (const moment of ['before', 'after'] as const) {
      const interruption = new Interruption(call, moment, 'changes');
      yield interruption;
      if (!interruption.isKilled) return;
    }
  }
}

function interrupt(snapshot: SoftwareTokenSnapshot, interruption: Interruption, work: Case['work']): SoftwareToken {
  const device = SoftwareToken.restore(snapshot);
  try {
    work(new SecretStore(interruptible(loggedIn(device), interruption), clock));
  } catch (error) {
    if (!interruption.isKilled) throw error;
  }
  return device;
}

describe('an interruption at any call', () => {
  it.each(Object.entries(CASES))('of %s shows the old or the new content, and the next write cleans up', (_, each) => {
    const device = softwareToken();
    new SecretStore(loggedIn(device), clock).write('db/other', data({ a: '1' }), {});
    each.prepare(device);
    const before = device.snapshot();
    const old = contentOf(device);
    const finished = interrupt(before, new Interruption(0, 'before'), each.work);
    const allowed = new Set([old, contentOf(finished)]);
    let count = 0;
    for (const first of interruptions()) {
      const after = interrupt(before, first, each.work);
      expect(allowed).toContain(contentOf(after));
      if (!first.isKilled) continue;
      count++;
      const left = after.snapshot();
      const last = contentOf(interrupt(left, new Interruption(0, 'before'), LAST));
      for (const second of interruptions()) {
        const repaired = interrupt(left, second, LAST);
        expect([...allowed, last]).toContain(contentOf(repaired));
        if (second.isKilled) continue;
        const labels = labelsOn(repaired).filter((label) => /^db\/[^/]+$/.test(label));
        expect(labels).toEqual(['db/_metadata', 'db/b', 'db/nested', 'db/z']);
      }
    }
    expect(count).toBeGreaterThan(1);
  });

  it('of a write after its metadata was created shows the new content', () => {
    const device = softwareToken();
    onStore(SECRET)(device);
    const write = (store: SecretStore) => store.write('db', data({ a: 'new' }), {});
    const after = interrupt(device.snapshot(), new Interruption(2, 'after', 'changes'), write);
    expect(labelsOn(after)).toEqual(['db/_metadata', 'db/_metadata', 'db/a', 'db/a', 'db/b', 'db/data']);
    expect(new SecretStore(loggedIn(after), clock).read('db').data).toEqual(data({ a: 'new' }));
  });
});
