import { systemRandom } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { freePorts } from '../../../../packages/control-plane/src/ports.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { OWN, signed } from '../receiver/receiver.test-support.ts';
import { startControllerScenario } from './controller.test-support.ts';

it('scenario 12 reads the Secret of an IgnitionSync where the review selects namespaces by their labels', async () => {
  const [port = 0] = await freePorts(1, systemRandom);
  const settings = { webhookReceiverPort: port, webhookReceiverHost: '127.0.0.1' };
  // The test rig installs the webhook for namespaces with a label of its own.
  await using c = await startControllerScenario({ config: { 'ignition-sync': settings } });
  await c.secret('hook', { secret: OWN });
  await c.sync('plant', { webhook: { secretRef: { name: 'hook', key: 'secret' } } });
  const body = JSON.stringify({ ref: 'v2' });
  const send = async (): Promise<number> => {
    const headers = { 'x-hub-signature-256': `sha256=${signed(body, OWN)}` };
    const url = `http://127.0.0.1:${port}/webhook/${c.namespace}/plant`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  await expect.poll(send, { timeout: 30_000, interval: 500 }).toBe(202);
  const { metadata } = await c.until(IgnitionSync, c.key('plant'), () => true);
  expect(metadata?.annotations?.[CR_ANNOTATIONS.requestedRef]).toBe('v2');
});
