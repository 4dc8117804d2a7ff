import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ImageError } from './image-error.ts';
import { machinePlatform, parseImageCommand, version } from './image-options.ts';

const other = machinePlatform() === 'linux/amd64' ? 'linux/arm64' : 'linux/amd64';
const output = join(tmpdir(), 'bowline.tar');

describe('the arguments of npm run image', () => {
  it('default to the manager, the platform of this machine and a local name', () => {
    expect(parseImageCommand(['--output', output])).toEqual({
      kind: 'archive',
      output,
      target: 'manager',
      platform: machinePlatform(),
      name: `localhost/bowline:${version()}`,
    });
  });

  it('select a target, a platform and a name', () => {
    const args = [
      '--target',
      'manager',
      '--platform',
      'linux/arm64',
      '--name',
      'registry.example.com:5000/a/bowline:1',
    ];
    expect(parseImageCommand(['--output', output, ...args])).toMatchObject({
      target: 'manager',
      platform: 'linux/arm64',
      name: 'registry.example.com:5000/a/bowline:1',
    });
  });

  it.each([
    [[], '--output is missing: name the archive to write, for example --output bowline.tar'],
    [['--output', ''], '--output is missing'],
    [['--output', output, '--target', 'agent'], '--target "agent" is unknown; use one of manager, pkcs11'],
    [
      ['--output', output, '--platform', 'linux/s390x'],
      '--platform "linux/s390x" is unknown; use one of linux/amd64, linux/arm64',
    ],
    [
      ['--output', output, '--target', 'pkcs11', '--platform', other],
      `run this on a machine of ${other}, or leave out --platform`,
    ],
    [['--output', output, '--name', 'bowline'], '--name "bowline" is not an image name with a tag'],
    [['--output', output, '--name', 'Bowline:1'], '--name "Bowline:1" is not an image name with a tag'],
    [['--output', join(tmpdir(), 'missing/bowline.tar')], 'does not exist; create it first'],
    [['--output', tmpdir()], 'is not a file'],
    [['--outptu', output], "Unknown option '--outptu'"],
    [['bowline.tar'], "Unexpected argument 'bowline.tar'"],
  ])('%j are rejected with the fix', (args, message) => {
    expect(() => parseImageCommand(args)).toThrow(ImageError);
    expect(() => parseImageCommand(args)).toThrow(message);
  });
});
