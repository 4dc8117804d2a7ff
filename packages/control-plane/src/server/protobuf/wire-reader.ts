/** ProtobufError reports a message that cannot be decoded. Its text is the API server's. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** Wire types, as protobuf numbers them. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

/** Texts of fewer bytes count as short. */
const SHORT = 24;

/** WireReader reads the parts of a protobuf message. It copies only what it returns. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** The last varint, as two unsigned halves. */
  #low = 0;
  #high = 0;
  /** The wire type of the last tag. */
  wireType = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** isBefore reports whether there is data left before an end. */
  isBefore(end: number): boolean {
    if (this.#at > end) throw new ProtobufError('unexpected EOF');
    return this.#at < end;
  }

  /** end returns the end of the whole message. */
  get end(): number {
    return this.#bytes.length;
  }

  /** tag reads the number of the next field; `message` names the type in errors. */
  tag(message: string): number {
    this.#varint();
    this.wireType = this.#low & 7;
    const number = (this.#high << 29) | (this.#low >>> 3) | 0;
    if (this.wireType === END_GROUP) throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`);
    if (number <= 0) throw new ProtobufError(`proto: ${message}: illegal tag ${number} (wire type ${this.#low})`);
    return number;
  }

  /** bytesEnd reads a length and returns the end of the bytes that it covers. */
  bytesEnd(): number {
    this.#varint();
    if (this.#high >= 0x7fff_ffff) throw new ProtobufError('proto: negative length found during unmarshaling');
    const length = this.#high * 2 ** 32 + this.#low;
    if (length > this.#bytes.length - this.#at) throw new ProtobufError('unexpected EOF');
    return this.#at + length;
  }

  text(): string {
    const end = this.bytesEnd();
    const start = this.#at;
    this.#at = end;
    // For names and the many empty texts, this is faster than a call out of JavaScript.
    if (end - start < SHORT) {
      let text = '';
      let at = start;
      for (; at < end; at++) {
        const byte = this.#bytes[at] ?? 0;
        if (byte >= 0x80) break;
        text += String.fromCharCode(byte);
      }
      if (at === end) return text;
    }
    return this.#bytes.toString('utf8', start, end);
  }

  base64(): string {
    const end = this.bytesEnd();
    const start = this.#at;
    this.#at = end;
    return this.#bytes.toString('base64', start, end);
  }

  /** bytes returns a part of the message, not a copy. */
  bytes(): Uint8Array {
    const end = this.bytesEnd();
    const start = this.#at;
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  boolean(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** int64 returns a bigint if a number would not be exact. */
  int64(): number | bigint {
    this.#varint();
    const value = (this.#high | 0) * 2 ** 32 + this.#low;
    if (Number.isSafeInteger(value)) return value;
    return BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low));
  }

  double(): number {
    const start = this.#at;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  /** skip skips an unknown field. */
  skip(): void {
    let depth = 0;
    for (;;) {
      switch (this.wireType) {
        case VARINT:
          this.#varint();
          break;
        case FIXED64:
          this.#advance(8);
          break;
        case BYTES:
          this.#at = this.bytesEnd();
          break;
        case FIXED32:
          this.#advance(4);
          break;
        case GROUP:
          depth++;
          break;
        case END_GROUP:
          depth--;
          break;
        default:
          throw new ProtobufError(`proto: illegal wireType ${this.wireType}`);
      }
      if (depth === 0) return;
      this.#varint();
      this.wireType = this.#low & 7;
    }
  }

  #advance(length: number): void {
    if (length > this.#bytes.length - this.#at) throw new ProtobufError('unexpected EOF');
    this.#at += length;
  }

  #varint(): void {
    const bytes = this.#bytes;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[this.#at++];
      if (byte === undefined) throw new ProtobufError('unexpected EOF');
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else high |= part << (shift - 32);
      if (byte < 0x80) {
        this.#low = low >>> 0;
        this.#high = high >>> 0;
        return;
      }
    }
    throw new ProtobufError('proto: integer overflow');
  }
}
