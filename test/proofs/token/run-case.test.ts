import { describe, expect, it } from 'vitest';
import { tokenWith } from '../../../operators/hsm-secrets/src/token/interruption.test-support.ts';
import type { DataObject, NewDataObject } from '../../../operators/hsm-secrets/src/token/token.ts';
import type { Tampering } from './agent.ts';
import { runCase } from './run-case.ts';
import { softwareTokens } from './tokens.ts';

const TAMPERING: Readonly<Record<string, Tampering>> = {
  'objects are not destroyed': { token: (token) => tokenWith(token, { destroy: () => undefined }) },
  'values are not stored': {
    token: (token) =>
      tokenWith(token, { create: (object) => (object.label.endsWith('/b') ? undefined : token.create(object)) }),
  },
  'new objects are stored only after old ones were destroyed': {
    token: (token) => {
      const waiting: NewDataObject[] = [];
      const store = (): void => {
        for (const object of waiting.splice(0)) token.create(object);
      };
      return tokenWith(token, {
        create: (object) => void waiting.push(object),
        find: (application) => {
          store();
          return token.find(application);
        },
        destroy: (handle) => {
          token.destroy(handle);
          if (waiting.length > 1) return;
          store();
        },
      });
    },
  },
  'an object with a similar label is destroyed too': {
    token: (token) => {
      let objects: readonly DataObject[] = [];
      return tokenWith(token, {
        find: (application) => {
          objects = token.find(application);
          return objects;
        },
        destroy: (handle) => {
          const label = objects.find((object) => object.handle === handle)?.label ?? '';
          const other = objects.find((object) => object.handle !== handle && object.label.startsWith(label));
          token.destroy(handle);
          if (other !== undefined) token.destroy(other.handle);
        },
      });
    },
  },
  'the record of tried PINs is lost': { attempts: () => ({ read: () => undefined, write: () => undefined }) },
  'attempts are recorded only after they were made': {
    attempts: (store) => ({
      read: () => store.read(),
      write: (record) => {
        if (record.attempts.every(({ outcome }) => outcome === 'refused')) store.write(record);
      },
    }),
  },
  'the PIN is not changed': { token: (token) => tokenWith(token, { setPin: () => undefined }) },
};

describe('the token proof', () => {
  it('finds no violation for a hundred seeds, with every kind of fault', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 100; seed++) {
      const { violations, counts } = await runCase(seed, softwareTokens);
      expect(violations, `seed ${seed}`).toEqual([]);
      for (const name of Object.keys(counts)) seen.add(name);
    }
    const faults = ['kill before', 'kill after', 'unplug before', 'unplug after'];
    const others = ['write: Full', 'waits: PINUncertain', 'waits: PINIncorrect', 'change PIN: done', 'purge: done'];
    expect([...seen]).toEqual(expect.arrayContaining([...faults, ...others]));
  });

  it('runs the same case for the same seed', async () => {
    expect(await runCase(7, softwareTokens)).toEqual(await runCase(7, softwareTokens));
  });

  it.each(Object.entries(TAMPERING))('detects that %s', async (_, tampering) => {
    for (let seed = 1; seed <= 200; seed++) {
      const { violations } = await runCase(seed, softwareTokens, tampering);
      if (violations.length > 0) return;
    }
    expect.fail('no seed out of 200 detected it');
  });
});
