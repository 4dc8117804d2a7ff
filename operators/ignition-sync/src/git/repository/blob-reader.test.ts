import { describe, expect, it } from 'vitest';
import { blobId } from '../../engine/tree/blob-id.ts';
import { gitFixture } from '../git-fixture.test-support.ts';
import { BlobReader } from './blob-reader.ts';

const FILES = { a: 'first', b: 'x'.repeat(300_000), c: '' };

async function read(reader: BlobReader, hash: string, signal?: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of reader.open(hash, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('BlobReader', () => {
  it('reads blobs in any order, also after one was not read to its end, was missing or was aborted', async () => {
    await using fixture = await gitFixture();
    await fixture.remote.commit(FILES);
    await using reader = new BlobReader(fixture.runner, fixture.remote.folder);
    for (const text of [FILES.b, FILES.a, FILES.c, FILES.b]) expect(await read(reader, blobId(text))).toBe(text);
    for await (const _chunk of reader.open(blobId(FILES.b))) break;
    expect(await read(reader, blobId(FILES.a))).toBe(FILES.a);
    await expect(read(reader, blobId('missing'))).rejects.toMatchObject({ reason: 'CommitGone' });
    expect(await read(reader, blobId(FILES.a))).toBe(FILES.a);
    const abort = new AbortController();
    await expect(async () => {
      for await (const _chunk of reader.open(blobId(FILES.b), abort.signal)) abort.abort(new Error('stopped'));
    }).rejects.toThrow('stopped');
    expect(await read(reader, blobId(FILES.c))).toBe(FILES.c);
  });

  it('reads announced blobs ahead, and others nevertheless', async () => {
    await using fixture = await gitFixture();
    const texts = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(index * 1_000));
    await fixture.remote.commit(Object.fromEntries(texts.map((text, index) => [`file-${index}`, text])));
    await using reader = new BlobReader(fixture.runner, fixture.remote.folder);
    reader.announce(texts.map((text) => blobId(text)));
    for (const text of texts) expect(await read(reader, blobId(text))).toBe(text);
    const [first = '', second = '', third = ''] = texts.slice(-3);
    reader.announce([first, second, third].map((text) => blobId(text)));
    expect(await read(reader, blobId(first))).toBe(first);
    expect(await read(reader, blobId(third))).toBe(third);
    expect(await read(reader, blobId(second))).toBe(second);
    reader.announce([first, 'missing', second].map((text) => blobId(text)));
    expect(await read(reader, blobId(first))).toBe(first);
    await expect(read(reader, blobId('missing'))).rejects.toMatchObject({ reason: 'CommitGone' });
    expect(await read(reader, blobId(second))).toBe(second);
  });

  it('returns the sizes of the blobs that it has', async () => {
    await using fixture = await gitFixture();
    await fixture.remote.commit(FILES);
    await using reader = new BlobReader(fixture.runner, fixture.remote.folder);
    const sizes = await reader.sizes([blobId(FILES.a), blobId('missing'), blobId(FILES.b)]);
    expect(sizes).toEqual(
      new Map([
        [blobId(FILES.a), 5],
        [blobId(FILES.b), 300_000],
      ]),
    );
    expect(await reader.sizes([])).toEqual(new Map());
  });
});
