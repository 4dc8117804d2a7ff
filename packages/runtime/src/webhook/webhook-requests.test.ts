import { connect as connectTls } from 'node:tls';
import { VirtualClock } from '@bowline/machinery';
import { expect, it, vi } from 'vitest';
import { admit, deny } from './admission-response.ts';
import { ca, cleanUps, gate, review, start } from './webhook-server.test-support.ts';

/** unfinished sends the beginning of a request and then nothing, and resolves to the response. */
function unfinished(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connectTls({ host: '127.0.0.1', port, ca }, () => socket.write(text));
    cleanUps.push(async () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
  });
}

const head = (length: number): string =>
  `POST /op/gate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

it('serves other requests while bodies do not arrive, and fails those after five seconds', async () => {
  const wire = new VirtualClock();
  const { send, port, metrics } = await start([gate(() => admit())], { wire });
  const hanging = [1, 2, 3, 4].map(() => unfinished(port, `${head(100)}{`));
  await vi.waitFor(async () =>
    expect(await metrics.render()).toContain(
      'controller_runtime_webhook_requests_in_flight{webhook="gate.op.bowline.dev"} 4',
    ),
  );
  expect(await send(review())).toMatchObject({ status: 200 });
  await wire.advance(4_999);
  expect(await send(review())).toMatchObject({ status: 200 });
  await wire.advance(1);
  for (const text of await Promise.all(hanging)) {
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(text).toContain('the body did not arrive within 5000 ms');
  }
});

it('reads a body that arrives in a thousand chunks', async () => {
  const { port } = await start([gate(() => deny('closed'))]);
  const text = review({}, { object: { metadata: { name: 'x'.repeat(1000) } } });
  const chunked = head(0).replace('content-length: 0', 'transfer-encoding: chunked\r\nconnection: close');
  const pieces = [...text].map((each) => `1\r\n${each}\r\n`).join('');
  expect(await unfinished(port, `${chunked}${pieces}0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 .*closed/s);
});

it('rejects requests of a caller that sends endlessly without waiting for responses', async () => {
  const wire = new VirtualClock();
  const { port, metrics, close } = await start([gate(() => new Promise(() => {}))], { wire });
  const one = `${head(Buffer.byteLength(review()))}${review()}`;
  const responses = unfinished(port, one.repeat(1_005)).catch(() => '');
  await vi.waitFor(
    async () =>
      expect(await metrics.render()).toContain(
        'controller_runtime_webhook_requests_total{webhook="gate.op.bowline.dev",code="503"} 5',
      ),
    { timeout: 4_000 },
  );
  const closed = close();
  await wire.advance(5_000);
  await closed;
  await responses;
});
