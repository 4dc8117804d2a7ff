import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { serveHealth } from './serve-health.ts';

const flag = '--health-listen';
const never = new AbortController().signal;

it('serves the result of the checks until it is stopped, also with open connections', async () => {
  const stop = new AbortController();
  let problem: string | undefined;
  const checks = { '/livez': () => undefined, '/readyz': () => problem };
  let serving: Promise<void> | undefined;
  const port = await new Promise<number>((onListening, reject) => {
    serving = serveHealth({ address: '127.0.0.1:0', flag, checks, onListening }, stop.signal);
    serving.catch(reject);
  });
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.text()];
  };
  expect(await get('/livez')).toEqual([200, 'ok']);
  expect(await get('/readyz?verbose')).toEqual([200, 'ok']);
  problem = 'no token';
  expect(await get('/readyz')).toEqual([503, 'no token']);
  expect(await get('/metrics')).toEqual([404, 'not found; served are /livez, /readyz\n']);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  stop.abort();
  await serving;
  await closed;
  await expect(get('/livez')).rejects.toThrow();
});

it('names the flag if it cannot listen', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  await expect(serveHealth({ address: taken, flag, checks: {} }, never)).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_IN_USE',
    message: `cannot listen on ${taken} (EADDRINUSE); choose another address with --health-listen`,
  });
  other.close();
  for (const address of ['0', '8093', 'a:b', ':70000'])
    await expect(serveHealth({ address, flag, checks: {} }, never)).rejects.toMatchObject({
      code: 'BOWLINE_ADDRESS_INVALID',
    });
});

it('does not listen if it was stopped before', async () => {
  await serveHealth({ address: '192.0.2.1:1', flag, checks: {} }, AbortSignal.abort());
});
