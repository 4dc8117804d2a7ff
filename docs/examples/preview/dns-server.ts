import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { DnsRecord } from './dns.ts';

/** DnsServer is a DNS provider for tests and for running the operator locally. */
export interface DnsServer extends AsyncDisposable {
  readonly url: string;
  readonly records: Map<string, DnsRecord>;
  /** If set, the status of every response. */
  failWith: number | undefined;
}

/** startDnsServer starts a server on a free local port. */
export async function startDnsServer(): Promise<DnsServer> {
  const records = new Map<string, DnsRecord>();
  const handle = (method: string | undefined, host: string, record: DnsRecord): number => {
    const held = records.get(host);
    if (held && held.owner !== record.owner) return 409;
    if (method === 'PUT') records.set(host, record);
    else if (!records.delete(host)) return 404;
    return 200;
  };
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const host = request.url?.replace('/records/', '') ?? '';
      response.writeHead(dns.failWith ?? handle(request.method, host, body as DnsRecord)).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dns: DnsServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    records,
    failWith: undefined,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return dns;
}
