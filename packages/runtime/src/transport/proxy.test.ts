import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { connect } from './connect.ts';
import { get, http1Server, http2Server, listen, outcome, pki } from './server.test-support.ts';

/** tunnel responds to CONNECT like a proxy if the credentials match. */
function tunnel(seen: string[], wanted?: string): (request: IncomingMessage, socket: Duplex) => void {
  return (request, socket) => {
    seen.push(request.url ?? '');
    socket.on('error', () => {});
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const [host, port] = (request.url ?? '').split(':');
    const outer = connectTcp(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      outer.pipe(socket);
      socket.pipe(outer);
    });
    outer.on('error', () => socket.destroy());
  };
}

test('connects to an HTTP/2 server through a proxy with the user and password of the proxy URL', async () => {
  await using server = await http2Server((stream) => {
    stream.respond({ ':status': 200 });
    stream.end('through');
  });
  const seen: string[] = [];
  const login = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  await using proxy = await listen(createServer().on('connect', tunnel(seen, login)), () => ({ server: '' }));
  await using transport = connect({ ...server.config, proxyUrl: `http://me:p%40ss@127.0.0.1:${proxy.port}` });
  expect(await outcome(transport.request(get('/')))).toBe('through');
  expect(seen).toEqual([`127.0.0.1:${server.port}`]);
});

test('verifies the certificate of an https proxy', async () => {
  await using server = await http1Server((_request, response) => response.end('through'), true);
  const { server: leaf } = await pki();
  const seen: string[] = [];
  const secure = createHttpsServer({ key: leaf.keyPem, cert: leaf.certificatePem }).on('connect', tunnel(seen));
  await using proxy = await listen(secure, () => ({ server: '' }));
  await using transport = connect({ ...server.config, proxyUrl: `https://127.0.0.1:${proxy.port}` });
  // The proxy's certificate is verified against the CAs that Node trusts, which did not sign this one.
  expect(await outcome(transport.request(get('/')))).toMatchObject({ code: 'BOWLINE_TRANSPORT_PROXY' });
});

test('names the proxy without its password when it refuses the tunnel or is unreachable', async () => {
  await using server = await http2Server(() => {});
  await using proxy = await listen(createServer().on('connect', tunnel([], 'Basic other')), () => ({ server: '' }));
  await using refused = connect({ ...server.config, proxyUrl: `http://me:hunter2@127.0.0.1:${proxy.port}` });
  const error = await outcome(refused.request(get('/')));
  expect(error).toMatchObject({ code: 'BOWLINE_TRANSPORT_PROXY' });
  expect(String(error)).toContain(`http://127.0.0.1:${proxy.port} refused a tunnel`);
  expect(String(error)).toContain('status 407: set user and password in proxy-url');
  expect(String(error)).not.toContain('hunter2');

  await using socks = connect({ ...server.config, proxyUrl: 'socks5://127.0.0.1:1080' });
  expect(await outcome(socks.request(get('/')))).toMatchObject({
    code: 'BOWLINE_TRANSPORT_PROXY',
    message: expect.stringContaining('only http:// and https://') as string,
  });
});
