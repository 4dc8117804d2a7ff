import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTar } from './read-tar.ts';
import { type TarFile, writeTar } from './write-tar.ts';

const LONG = `projects/${'a-long-name/'.repeat(20)}view.json`;
const FILES: Readonly<Record<string, string>> = {
  'files/a.json': '{}',
  'files/empty': '',
  [LONG]: 'x'.repeat(2000),
  'files/grün/€.txt': 'umlaut',
  [`files/${'y'.repeat(94)}`]: 'exactly 100 bytes',
};

async function* filesOf(files: Readonly<Record<string, string>>): AsyncGenerator<TarFile> {
  for (const [path, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    yield { path, size: content.length, mode: path.endsWith('.json') ? 0o755 : 0o644, content: [content] };
  }
}

async function archive(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeTar(filesOf(files))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function contentOf(bytes: Buffer, size = 700): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { path, content } of readTar(inChunks(bytes, size))) {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    found[path] = Buffer.concat(chunks).toString();
  }
  return found;
}

describe('a tar archive', () => {
  it.each([1, 511, 512, 513, 100_000])('is read as it was written, in chunks of %i bytes', async (size) => {
    expect(await contentOf(await archive(FILES), size)).toEqual(FILES);
  });

  it('is read by the tar of the system', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bowline-tar-'));
    try {
      writeFileSync(join(folder, 'a.tar'), await archive(FILES));
      execFileSync('tar', ['-xf', 'a.tar'], { cwd: folder });
      for (const [path, text] of Object.entries(FILES)) expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('skips the content that is not read', async () => {
    const paths: string[] = [];
    for await (const { path } of readTar(inChunks(await archive(FILES), 300))) paths.push(path);
    expect(paths).toEqual(Object.keys(FILES));
  });

  it.each([
    ['shorter', 'four', 5],
    ['longer', 'six66', 4],
  ])('is not written if a file became %s while it was read', async (_, text, size) => {
    async function* changed(): AsyncGenerator<TarFile> {
      yield { path: 'a', size, mode: 0o644, content: [Buffer.from(text)] };
    }
    await expect(async () => {
      for await (const _chunk of writeTar(changed()));
    }).rejects.toThrow('a changed while it was archived');
  });

  it('is refused if it is truncated anywhere', async () => {
    const bytes = await archive({ 'files/a': 'hello' });
    for (const length of [0, 100, 512, 514, 1023, 1024]) {
      await expect(contentOf(bytes.subarray(0, length))).rejects.toThrow('it ends too early');
    }
  });

  it.each([
    ['a symbolic link', '2'],
    ['a hard link', '1'],
    ['a folder', '5'],
    ['a device', '3'],
    ['a long name of GNU tar', 'L'],
  ])('is refused if it contains %s', async (_, type) => {
    const bytes = await archive({ 'files/a': 'hello' });
    const header = bytes.subarray(0, 512);
    const before = header[156] ?? 0;
    header[156] = type.charCodeAt(0);
    const sum = Number.parseInt(header.toString('latin1', 148, 154), 8) + type.charCodeAt(0) - before;
    header.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
    await expect(contentOf(bytes)).rejects.toThrow('a header is not valid');
  });

  it('is refused if a header was changed', async () => {
    const bytes = await archive({ 'files/a': 'hello' });
    bytes[6] = 'b'.charCodeAt(0);
    await expect(contentOf(bytes)).rejects.toThrow('a header is not valid');
  });
});
