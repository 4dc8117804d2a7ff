import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { FakeKubelet } from './fake-kubelet.test-support.ts';

/** A separate process: in this one, the library may already be loaded. */
const SCRIPT = `
import { createRequire } from 'node:module';
import { silentLog } from '@bowline/runtime/manager';
import { DevicePlugins } from './device-plugins.ts';
const { cache } = createRequire(import.meta.url);
const isLoaded = () => Object.keys(cache).some((file) => file.includes('@grpc'));
const stop = new AbortController();
let notify;
const line = new Promise((resolve) => { notify = resolve; });
const log = { ...silentLog, info: notify, warn: notify, with: () => log };
const plugins = new DevicePlugins({ folder: process.env.KUBELET_FOLDER, owner: 'hsm/pico-hsm', log });
plugins.update([{ serialNumber: 'A', devicePath: '/dev/a', available: true, deviceInfo: {} }]);
const running = plugins.run(stop.signal);
// The timers of the loop do not keep the process alive.
const alive = setInterval(() => undefined, 1_000);
const message = await line;
clearInterval(alive);
console.log(JSON.stringify({ message, isLoaded: isLoaded() }));
stop.abort();
await running;
`;

async function runIn(folder: string): Promise<unknown> {
  const node = ['--conditions=@bowline/source', '--import', 'tsx', '--input-type=module', '--eval', SCRIPT];
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const env = { ...process.env, KUBELET_FOLDER: folder };
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd, env });
  return JSON.parse(stdout);
}

it('loads the gRPC library only where kubelet is present', async () => {
  await using kubelet = await FakeKubelet.create();
  expect(await runIn(kubelet.folder)).toEqual({
    message: "kubelet's socket is missing, offering no devices until it appears",
    isLoaded: false,
  });
  await kubelet.start();
  expect(await runIn(kubelet.folder)).toEqual({
    message: 'registered the device plugin with kubelet',
    isLoaded: true,
  });
});
