import { describe, expect, it } from 'vitest';
import { parseRecords } from './apt.ts';
import { resolvePackages } from './update-packages.ts';

const lists = parseRecords(`Package: tool
Version: 1:2.0-1
Architecture: amd64
Depends: libone (>= 1.0), libtwo | libthree:any, perl
SHA256: a
Description: a tool
 with a longer text

Package: libone
Version: 1.0
Architecture: amd64
Pre-Depends: libc6
SHA256: b

Package: libtwo
Version: 1.0
Architecture: all
Depends: tool
SHA256: c
`);

const apt = {
  show: (names: readonly string[]) =>
    Promise.resolve(lists.filter((record) => names.includes(record.get('Package') ?? ''))),
};

describe('resolvePackages', () => {
  it('follows dependencies to their first alternative, also in a cycle, without known and omitted packages', async () => {
    expect(await resolvePackages(apt, ['tool'], new Set(['libc6']))).toEqual([
      { name: 'libone', version: '1.0', architecture: 'amd64', sha256: 'b' },
      { name: 'libtwo', version: '1.0', architecture: 'all', sha256: 'c' },
      { name: 'tool', version: '1:2.0-1', architecture: 'amd64', sha256: 'a' },
    ]);
  });

  it('names a package that does not exist', async () => {
    await expect(resolvePackages(apt, ['tool', 'toool'], new Set(['libc6']))).rejects.toThrow(
      'Debian has no package toool',
    );
  });
});
