import { describe, expect, it } from 'vitest';
import { unzip } from './unzip.ts';

// A folder, a deflated file of forty `a`, and a stored file `hi`.
const archive = Buffer.from(
  'UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAEAAAAYmluL1BLAwQUAAAACAD3InBdJYpbyQYAAAAoAAAACAAAAGJpbi9sb25nS0wkDgAAUEsDBBQAAAAAAPcicF2sKpPYAgAAAAIAAAAJAAAAYmluL3Nob3J0aGlQSwECFAMUAAAAAAAAACEAAAAAAAAAAAAAAAAABAAAAAAAAAAAABAA/0EAAAAAYmluL1BLAQIUAxQAAAAIAPcicF0lilvJBgAAACgAAAAIAAAAAAAAAAAAAACAASIAAABiaW4vbG9uZ1BLAQIUAxQAAAAAAPcicF2sKpPYAgAAAAIAAAAJAAAAAAAAAAAAAACAAU4AAABiaW4vc2hvcnRQSwUGAAAAAAMAAwCfAAAAdwAAAAAA',
  'base64',
);

describe('a zip archive', () => {
  it('is extracted, deflated or stored', () => {
    const files = unzip(archive).map(({ name, content }) => [name, content.toString()]);
    expect(files).toEqual([
      ['bin/long', 'a'.repeat(40)],
      ['bin/short', 'hi'],
    ]);
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['truncated', archive.subarray(0, -3)],
  ])('is rejected if it is %s', (_, broken) => {
    expect(() => unzip(broken)).toThrow('this is not a zip archive');
  });
});
