/** The tags of the values in certificates (X.690). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** der encodes one value: its tag, its length, and its content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 0x100)) bytes.unshift(rest % 0x100);
  return [0x80 | bytes.length, ...bytes];
}

/** derObjectIdentifier encodes a dotted identifier. */
export function derObjectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...more] = dotted.split('.').map(Number);
  return der(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...more.flatMap(base128)]));
}

/** Seven bits per byte, most significant first; the eighth bit is set in all bytes but the last. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/** derTime encodes a time in whole seconds: with a two-digit year as long as that is sufficient, as X.509 requires. */
export function derTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/\D/g, '').slice(0, 14);
  const year = time.getUTCFullYear();
  return year >= 1950 && year < 2050
    ? der(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : der(TAG.generalizedTime, Buffer.from(`${digits}Z`));
}

/** DerValue is a decoded value. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** The encoded value, including its tag and length. */
  readonly whole: Buffer;
}

/** readDer decodes a sequence of values. The caller must have verified that the bytes are well-formed. */
export function readDer(bytes: Uint8Array): DerValue[] {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values: DerValue[] = [];
  for (let at = 0; at < source.length; ) {
    const first = source.readUInt8(at + 1);
    const more = first < 0x80 ? 0 : first & 0x7f;
    const begin = at + 2 + more;
    const end = begin + (more === 0 ? first : source.readUIntBE(at + 2, more));
    values.push({
      tag: source.readUInt8(at),
      content: source.subarray(begin, end),
      whole: source.subarray(at, end),
    });
    at = end;
  }
  return values;
}
