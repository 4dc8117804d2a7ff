import type { Readable } from 'node:stream';
import type { HttpOutcome } from '../errors/classify-failure.ts';

/** A longer line is no header that matters here. */
const MAX_LINE = 8_192;

/**
 * HttpTrace reads the headers that git's curl received: the status decides the class of an error, and the Location header names
 * the host of a redirect, which git does not print. git redacts credentials in this trace; other lines are dropped.
 */
export class HttpTrace {
  #rest = '';
  #status: number | undefined;
  #redirectHost: string | undefined;

  constructor(stream: Readable) {
    stream.setEncoding('latin1');
    stream.on('data', (text: string) => this.#read(text));
    // The process may be killed at any time.
    stream.on('error', () => undefined);
  }

  get outcome(): HttpOutcome {
    return { status: this.#status, redirectHost: this.#redirectHost };
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) this.#readLine(line);
  }

  #readLine(line: string): void {
    const header = /<= Recv header: (.*?)\r?$/.exec(line)?.[1];
    if (header === undefined) return;
    const status = /^HTTP\/[\d.]+ (\d{3})/.exec(header)?.[1];
    if (status !== undefined) {
      this.#status = Number(status);
      this.#redirectHost = undefined;
    }
    const location = /^location:\s*(\S+)/i.exec(header)?.[1];
    if (location !== undefined) this.#redirectHost = hostOf(location);
  }
}

/** The only text of a server that is displayed: a valid host, and nothing else. */
function hostOf(location: string): string | undefined {
  if (!URL.canParse(location)) return undefined;
  const { host } = new URL(location);
  return /^[a-z0-9.:[\]-]{1,255}$/i.test(host) ? host : undefined;
}
