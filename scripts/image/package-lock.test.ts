import { describe, expect, it } from 'vitest';
import { secondNodeVersion } from '../second-node.ts';
import { OMITTED, PACKAGES } from './contents.ts';
import { PLATFORMS } from './image-options.ts';
import { readPackageLock } from './package-lock.ts';

const lock = readPackageLock();

describe('the package lock', () => {
  it('has the Node version that is tested', () => {
    expect(lock.node.version).toBe(secondNodeVersion);
  });

  it.each(PLATFORMS)('has every package of the images once, with its digest: %s', (platform) => {
    const { manager, pkcs11 } = lock.packages[platform];
    const names = [...manager, ...pkcs11].map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...PACKAGES.manager, ...PACKAGES.pkcs11]));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => Object.hasOwn(OMITTED, name))).toEqual([]);
    for (const { sha256 } of [...manager, ...pkcs11]) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(lock.node.integrity[platform]).toMatch(/^sha512-/);
  });
});
