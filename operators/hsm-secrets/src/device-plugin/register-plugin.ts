import { join } from 'node:path';
import { BowlineError, type Clock } from '@bowline/machinery';
import { type DevicePluginApi, loadDevicePluginApi, type RegisterRequest } from './device-plugin-api.ts';
import { KUBELET_SOCKET } from './kubelet-socket.ts';

/** RegisterOptions configures where and how long a registration is tried. */
export interface RegisterOptions {
  /** The folder of kubelet's socket. */
  readonly folder: string;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly signal: AbortSignal;
}

/** Before it responds, kubelet tries to connect to the plugin for up to 10 s. */
const TIMEOUT_MS = 15_000;

/** registerPlugin announces a plugin to kubelet. It rejects if kubelet cannot be reached or refuses the plugin. */
export async function registerPlugin(
  request: RegisterRequest,
  { folder, clock, signal }: RegisterOptions,
): Promise<void> {
  const path = join(folder, KUBELET_SOCKET);
  const api = await loadDevicePluginApi();
  const client = new api.grpc.Client(`unix:${path}`, api.grpc.credentials.createInsecure());
  const attempt = new AbortController();
  const cancel = (): void => attempt.abort();
  using _timer = clock.setTimer(TIMEOUT_MS, cancel);
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) cancel();
    await call(api, client, request, attempt.signal);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BowlineError(
      'BOWLINE_HSM_DEVICE_PLUGIN',
      `cannot register ${request.resourceName} with kubelet at ${path}: ${reason}`,
      { cause, retryable: true },
    );
  } finally {
    signal.removeEventListener('abort', cancel);
    client.close();
  }
}

function call(
  { registration }: DevicePluginApi,
  client: InstanceType<DevicePluginApi['grpc']['Client']>,
  request: RegisterRequest,
  signal: AbortSignal,
): Promise<void> {
  const { path, requestSerialize, responseDeserialize } = registration.Register;
  return new Promise((resolve, reject) => {
    const sent = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error) => {
      if (error) reject(error);
      else resolve();
    });
    if (signal.aborted) sent.cancel();
    signal.addEventListener('abort', () => sent.cancel(), { once: true });
  });
}
