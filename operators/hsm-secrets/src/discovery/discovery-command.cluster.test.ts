import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { discoveryCluster } from './discovery-cluster.test-support.ts';
import { discoveryCommand } from './discovery-command.ts';

it('reports the devices of its node and serves /livez until it is stopped', async () => {
  await using c = await discoveryCluster();
  await c.createDevice();
  await c.host.plug('1-1', { vendorId: '20a0', productId: '4230', serial: 'DC6A33145E23A42A', bus: 1, device: 15 });
  const stop = new AbortController();
  const consumed: string[] = [];
  const command = discoveryCommand({
    consumer: ({ namespace, device }) => ({
      update: (devices) =>
        void consumed.push(`${namespace}/${device} ${devices.map(({ serialNumber }) => serialNumber)}`),
      run: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    }),
  });
  let running: Promise<unknown> | undefined;
  const client = await c.podClient();
  const port = await new Promise<unknown>((resolve, reject) => {
    const log: Log = {
      ...silentLog,
      info: (message, fields) => void (message === 'serving /livez' && resolve(fields?.port)),
      with: () => log,
    };
    const options = {
      device: 'pico-hsm',
      sysfs: c.host.sysfs,
      dev: c.host.dev,
      run: c.host.run,
      podName: 'scanner',
      podNamespace: c.namespace,
      nodeName: c.nodeName,
      healthListen: '127.0.0.1:0',
    };
    // The program passes what the declaration of the command requires.
    running = command.run({ options, cluster: { client }, log, signal: stop.signal } as never);
    running.catch(reject);
  });
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  await c.untilReport({ discoveryStatus: 'completed', discoveredDevices: [{ serialNumber: 'DC6A33145E23A42A' }] });
  expect(consumed).toEqual([`${c.namespace}/pico-hsm DC6A33145E23A42A`]);
  stop.abort();
  await running;
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
  expect(await c.stored()).toMatchObject({ discoveryStatus: 'completed' });
});

it('ends with an error if it cannot serve /livez, and offers nothing in test mode', async () => {
  await using c = await discoveryCluster();
  const client = await c.podClient();
  const options = {
    ...{ device: 'pico-hsm', sysfs: '/sys', dev: '/dev', run: '/run' },
    ...{ podName: 'scanner', podNamespace: c.namespace, nodeName: c.nodeName, healthListen: '192.0.2.1:1' },
    testMode: true,
  };
  const { signal } = new AbortController();
  const consumer = () => expect.unreachable('nothing is offered in test mode');
  const context = { options, cluster: { client }, log: silentLog, signal } as never;
  await expect(discoveryCommand({ consumer }).run(context)).rejects.toMatchObject({
    code: 'BOWLINE_ADDRESS_UNAVAILABLE',
  });
});
