import { connect } from 'node:net';
import { integerBelow, pick, type Random } from '@bowline/machinery';
import { mutatedText } from './hostile-payload.ts';
import type { HostileRequest } from './hostile-request.ts';

/** WireAnswer is what arrived on a connection. */
export interface WireAnswer {
  /** Undefined: the connection was closed without a response. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const MAX_WAIT_MS = 20_000;

/** onWire returns a request as the bytes of HTTP/1.1; undefined if HTTP cannot express it. */
export function onWire({ method, url, headers, body }: HostileRequest): Buffer | undefined {
  const isClean = Object.values(headers).every((value) => /^[\x21-\xff]([\x20-\xff]*[\x21-\xff])?$/.test(value));
  const size = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (!/^[A-Z]+$/.test(method) || method === 'HEAD' || !/^\/[\x21-\x7e]*$/.test(url) || !isClean || size > 8_000)
    return undefined;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n`;
  return Buffer.concat([Buffer.from(`${head}${lines.join('')}\r\n`, 'latin1'), body]);
}

/** brokenWire returns bytes that are not quite HTTP, without anything that would authenticate them. */
export function brokenWire(random: Random): Buffer {
  const length = pick(random, ['5', '-1', '1e3', '99999999999', '0x10', '5, 5', '', '2097152']);
  const extra = pick(random, [
    '',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: x\r\n',
    'Expect: 100-continue\r\n',
    'Expect: x\r\n',
    'Upgrade: websocket\r\nConnection: upgrade\r\n',
    `X: ${'x'.repeat(20_000)}\r\n`,
    'a: b\r\n'.repeat(integerBelow(random, 500)),
    ': x\r\n',
    'X-Hub-Signature-256: sha256=\u0000\r\n',
  ]);
  const method = pick(random, ['POST', 'GET', 'CONNECT', 'PRI', '\u0016\u0003\u0001', 'post']);
  const text = `${method} /webhook/plant/site HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${extra}\r\n{"ref":"v1"}`;
  return Buffer.from(random.next() < 0.5 ? text : mutatedText(random, text), 'latin1');
}

/** sendBytes sends bytes, half-closes the connection, and returns what arrives until the server closes it. */
export function sendBytes(port: number, bytes: Buffer): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    const chunks: Buffer[] = [];
    socket.setTimeout(MAX_WAIT_MS, () => socket.destroy(new Error(`no end after ${MAX_WAIT_MS} ms`)));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server may reset the connection of a client that sends what it does not want.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(answerIn(Buffer.concat(chunks).toString())));
  });
}

function answerIn(text: string): WireAnswer {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const pairs = head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(': ', 2));
  const headers = Object.fromEntries(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]));
  return { status: status === undefined ? undefined : Number(status), headers, text: rest.join('\r\n\r\n') };
}
