import { integerBelow, pick, type Random } from '@bowline/machinery';
import type { HostileRequest } from './hostile-request.ts';
import { chance, hostileText } from './hostile-texts.ts';

/** WireBytes is an HTTP/1.1 request as it is written, in pieces. */
export interface WireBytes {
  readonly pieces: readonly Uint8Array[];
  /** Whether it is valid HTTP, so that there must be a complete response. Others may also be disconnected. */
  readonly isSound: boolean;
}

const METHODS = /^(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are not allowed
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** isSendable returns whether a request can be expressed in HTTP. */
function isSendable({ method, path, headers }: HostileRequest): boolean {
  return (
    METHODS.test(method) &&
    /^\/[\x21-\x7e]*$/.test(path) &&
    !path.includes('#') &&
    Object.entries(headers).every(([name, value]) => name !== 'content-length' && !UNSENDABLE.test(value))
  );
}

/** isSendableOverHttp2 returns the same for Node's HTTP/2 client, which accepts only Latin-1 characters. */
export function isSendableOverHttp2(request: HostileRequest): boolean {
  return (
    isSendable(request) && Object.values(request.headers).every((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
  );
}

/** soundBytes serializes a valid request. */
export function soundBytes(request: HostileRequest, token: string): WireBytes {
  const content = Buffer.from(request.body ?? '');
  const lines = headLines(request, token, content.length > 0 ? `content-length: ${content.length}` : undefined);
  return { pieces: [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content], isSound: isSendable(request) };
}

/** wireBytes serializes a request, malformed in a third of the cases, with its body as a whole, in pieces or in chunks. */
export function wireBytes(random: Random, request: HostileRequest, token: string): WireBytes {
  const content = Buffer.from(request.body ?? '');
  const isChunked = content.length > 0 && chance(random, 0.3);
  const length = content.length > 0 ? `content-length: ${content.length}` : undefined;
  const lines = headLines(request, token, isChunked ? 'transfer-encoding: chunked' : length);
  const pieces = split(random, content);
  const body = isChunked ? [...pieces.map(chunk), Buffer.from('0\r\n\r\n')] : pieces;
  if (chance(random, 0.3)) return { pieces: damaged(random, lines, body), isSound: false };
  return { pieces: [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...body], isSound: isSendable(request) };
}

function headLines(
  { method, path, headers }: HostileRequest,
  token: string,
  framing: string | undefined,
): readonly string[] {
  return [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'connection: close',
    ...Object.entries({ authorization: `Bearer ${token}`, ...headers }).map(([name, value]) => `${name}: ${value}`),
    ...(framing === undefined || headers['content-length'] !== undefined ? [] : [framing]),
  ];
}

function split(random: Random, content: Buffer): readonly Buffer[] {
  if (content.length === 0) return [];
  const at = Array.from({ length: integerBelow(random, 4) }, () => integerBelow(random, content.length)).sort(
    (a, b) => a - b,
  );
  return [0, ...at].map((from, index) => content.subarray(from, at[index])).filter(({ length }) => length > 0);
}

function chunk(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')]);
}

/** damaged returns a malformed head, or a head that does not match the body. */
function damaged(random: Random, lines: readonly string[], body: readonly Buffer[]): readonly Uint8Array[] {
  const [first = '', ...rest] = lines;
  const text = (all: readonly string[], end = '\r\n'): Buffer => Buffer.from(`${all.join(end)}${end}${end}`);
  const after = (...more: string[]): readonly Buffer[] => [text([first, ...more, ...rest]), ...body];
  const ways: readonly (() => readonly Buffer[])[] = [
    () => [text(lines, '\n'), ...body],
    () => [text(lines, '\r'), ...body],
    () => [text([first.replace('HTTP/1.1', pick(random, ['HTTP/1.0', 'HTTP/9.9', 'HTTP/', ''])), ...rest]), ...body],
    () => [text([first.replaceAll(' ', pick(random, ['  ', '\t', '']))]), ...body],
    () => [text([first, ...rest.filter((line) => !line.startsWith('host'))]), ...body],
    () => after(pick(random, ['content-length: 5', 'content-length: -1', 'content-length: 99999999999999999999'])),
    () => after('transfer-encoding: chunked', 'content-length: 3'),
    () => after(pick(random, ['transfer-encoding: x', 'transfer-encoding: chunked, chunked', 'transfer-encoding:'])),
    () =>
      after(pick(random, ['no colon', ': no name', ' folded: x', 'a b: c', `\u0000: x`, `${hostileText(random)}: x`])),
    () => after(`x-long: ${'x'.repeat(integerBelow(random, 200_000))}`),
    () => after(...Array.from({ length: integerBelow(random, 5_000) }, (_, index) => `x-${index}: x`)),
    () => after('expect: 100-continue'),
    () => after(pick(random, ['expect: x', 'upgrade: websocket', 'upgrade: h2c', 'te: trailers', 'trailer: x'])),
    () => [
      ...after(),
      Buffer.from(pick(random, ['0\r\n\r\n', '\r\n', 'GET / HTTP/1.1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\n'])),
    ],
    // A body that is never complete, and chunks with a wrong size.
    () => [text(lines), ...body.slice(0, -1)],
    () => [
      text(lines),
      ...body.map((piece) => Buffer.from(piece.toString('latin1').replace(/^[0-9a-f]+/, 'zz'), 'latin1')),
    ],
    () => [text(lines).subarray(0, integerBelow(random, 200))],
    () => {
      const bytes = text(lines);
      for (let count = 1 + integerBelow(random, 4); count > 0; count--)
        bytes[integerBelow(random, bytes.length)] = integerBelow(random, 256);
      return [bytes, ...body];
    },
  ];
  return pick(random, ways)();
}
