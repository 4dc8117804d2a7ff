/** RawResponse is an HTTP/1.1 response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const HEAD_END = '\r\n\r\n';

/** parseRawResponse parses what arrived on a connection; undefined if it is not a complete response. */
export function parseRawResponse(bytes: Buffer, isHead: boolean): RawResponse | undefined {
  const head = parseRawHead(bytes);
  if (!head) return undefined;
  const { status, headers, rest } = head;
  if (isHead) return { status, headers, text: '' };
  if (headers['transfer-encoding'] === 'chunked') {
    const body = withoutChunks(rest);
    return body && { status, headers, text: body.toString() };
  }
  const length = Number(headers['content-length'] ?? rest.length);
  return rest.length < length ? undefined : { status, headers, text: rest.subarray(0, length).toString() };
}

/** parseRawHead parses the head of a response, and returns what follows it; undefined while it is incomplete. */
export function parseRawHead(bytes: Buffer): (Omit<RawResponse, 'text'> & { readonly rest: Buffer }) | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const rest = bytes.subarray(end + HEAD_END.length);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  // 100 Continue: the response follows.
  if (status < 200) return parseRawHead(rest);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status, headers, rest };
}

function withoutChunks(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString(), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
    if (!(at <= bytes.length)) return undefined;
  }
}
