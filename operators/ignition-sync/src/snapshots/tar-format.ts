/** TAR_BLOCK is the size of the blocks of a tar archive. */
export const TAR_BLOCK = 512;

/** TarHeader describes one member of an archive. */
export interface TarHeader {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** `0` is a file, `x` the extended attributes of the next member (POSIX.1-2001). */
  readonly type: '0' | 'x';
}

/** The positions and lengths of the fields of a header (POSIX.1-1988, ustar). */
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
} as const;
const MAGIC = 'ustar\x0000';
/** The largest number of eleven octal digits: 8 GiB. */
const MAX_SIZE = 0o77777777777;

/** fitsHeader returns whether a path needs no extended attributes. */
export function fitsHeader(path: string): boolean {
  return /^[\x20-\x7e]+$/.test(path) && path.length <= FIELDS.name[1];
}

/** formatHeader returns the block before a member. Times and owners are not stored: a sync sets its own. */
export function formatHeader({ path, size, mode, type }: TarHeader): Buffer {
  if (size > MAX_SIZE) throw new RangeError('the file is too large for the archive');
  const block = Buffer.alloc(TAR_BLOCK);
  const write = (field: keyof typeof FIELDS, text: string): number =>
    block.write(text, FIELDS[field][0], FIELDS[field][1], 'latin1');
  write('name', path);
  write('mode', octal(mode, 7));
  write('uid', octal(0, 7));
  write('gid', octal(0, 7));
  write('size', octal(size, 11));
  write('mtime', octal(0, 11));
  write('type', type);
  write('magic', MAGIC);
  write('checksum', `${octal(checksum(block), 6)}\0 `);
  return block;
}

/** parseHeader returns the header in a block. It returns undefined for anything but what `formatHeader` writes. */
export function parseHeader(block: Buffer): TarHeader | undefined {
  const text = (field: keyof typeof FIELDS): string => {
    const [start, length] = FIELDS[field];
    const end = block.indexOf(0, start);
    return block.toString('latin1', start, end === -1 || end > start + length ? start + length : end);
  };
  const number = (field: 'mode' | 'size' | 'checksum'): number => {
    const digits = text(field).trim();
    return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
  };
  const type = text('type');
  const [size, mode] = [number('size'), number('mode')];
  const isOurs = block.toString('latin1', FIELDS.magic[0], FIELDS.magic[0] + MAGIC.length) === MAGIC;
  if (!isOurs || number('checksum') !== checksum(block) || Number.isNaN(size) || Number.isNaN(mode)) return undefined;
  return type === '0' || type === 'x' ? { path: text('name'), size, mode, type } : undefined;
}

/** formatPath returns the extended attributes with the path of the next member. */
export function formatPath(path: string): Buffer {
  const rest = ` path=${path}\n`;
  const bytes = Buffer.byteLength(rest);
  // The length of a record contains its own digits.
  let length = bytes + String(bytes).length;
  if (String(length).length !== String(bytes).length) length = bytes + String(length).length;
  return Buffer.from(`${length}${rest}`);
}

/** parsePath returns the path in extended attributes as `formatPath` writes them, or undefined. */
export function parsePath(attributes: Buffer): string | undefined {
  const text = attributes.toString('utf8');
  const [, length, path] = /^(\d{1,5}) path=([^\n]+)\n$/.exec(text) ?? [];
  return Number(length) === attributes.length ? path : undefined;
}

/** paddingOf returns how many bytes follow a member of a size, up to the next block. */
export function paddingOf(size: number): number {
  return (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;
}

/** The sum of the bytes, with spaces in place of the checksum itself. */
function checksum(block: Buffer): number {
  const [start, length] = FIELDS.checksum;
  let sum = 0;
  for (const [index, byte] of block.entries()) sum += index >= start && index < start + length ? 32 : byte;
  return sum;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
