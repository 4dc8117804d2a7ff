import { inflateRawSync } from 'node:zlib';

/** ZipEntry is a file inside a zip archive. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const DEFLATED = 8;

/** unzip reads the files of an archive that has no comment, no encryption and is smaller than 4 GB. */
export function unzip(archive: Buffer): readonly ZipEntry[] {
  const end = archive.length - 22;
  if (end < 0 || archive.readUInt32LE(end) !== END) throw new Error('this is not a zip archive without a comment');
  const entries: ZipEntry[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error('the central directory of this zip archive is invalid');
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    // The header in front of the content repeats the name, but may have another extra field.
    const header = archive.readUInt32LE(at + 42);
    const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const packed = archive.subarray(start, start + size);
    if (!name.endsWith('/')) entries.push({ name, content: method === DEFLATED ? inflateRawSync(packed) : packed });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}
