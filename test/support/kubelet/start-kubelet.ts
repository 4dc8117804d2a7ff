import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** NodeResources holds what kubelet would write into the status of its node. */
export interface NodeResources {
  readonly capacity: Readonly<Record<string, number>>;
  readonly allocatable: Readonly<Record<string, number>>;
}

/** ContainerDevice is a device that kubelet passes to the container runtime. */
export interface ContainerDevice {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly permissions: string;
}

/** RunningKubelet is the device manager of kubelet in a folder. */
export interface RunningKubelet extends AsyncDisposable {
  resources(): Promise<NodeResources>;
  /** admit requests one device of the resource for a pod, and rejects with the error of the pod's admission. */
  admit(pod: string, resource: string): Promise<readonly ContainerDevice[]>;
  /** restartContainer returns the devices of the container of an admitted pod that is started once more. */
  restartContainer(pod: string): Promise<readonly ContainerDevice[]>;
  endPod(pod: string): Promise<void>;
  /** kill ends it without giving it a chance to clean up. */
  kill(): Promise<void>;
}

interface Response {
  readonly id?: number;
  readonly error?: string;
  readonly capacity?: NodeResources['capacity'];
  readonly allocatable?: NodeResources['allocatable'];
  readonly devices?: readonly ContainerDevice[];
}

/** Enough to explain why it exited. */
const MAX_LINES = 40;

/**
 * startKubelet runs the device manager of kubelet in a folder, which takes the place of `/var/lib/kubelet/device-plugins`, and
 * resolves when plugins can register. Disposing of it shuts it down. It also exits when this process does.
 */
export async function startKubelet(program: string, folder: string): Promise<RunningKubelet> {
  const child = spawn(program, [folder], { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'pipe'] });
  const gone = once(child, 'close');
  const log: string[] = [];
  const waiting = new Map<number, (response: Response) => void>();
  let sent = 0;
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > MAX_LINES) log.shift();
  });
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const response = JSON.parse(line) as Response;
      if (response.id === undefined) return resolve();
      waiting.get(response.id)?.(response);
      waiting.delete(response.id);
    });
  });
  const ended = gone.then(() => {
    throw new Error(`the device manager of kubelet exited\n${log.join('\n')}`);
  });
  // Only those who wait for a response need to know.
  ended.catch(() => undefined);
  const ask = async (request: object): Promise<Response> => {
    sent += 1;
    const id = sent;
    const answered = new Promise<Response>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ id, ...request })}\n`);
    const response = await Promise.race([answered, ended]);
    if (response.error !== undefined) throw new Error(response.error);
    return response;
  };
  await Promise.race([ready, ended]);
  return {
    async resources() {
      const { capacity = {}, allocatable = {} } = await ask({ do: 'resources' });
      return { capacity, allocatable };
    },
    async admit(pod, resource) {
      return (await ask({ do: 'admit', pod, resource })).devices ?? [];
    },
    async restartContainer(pod) {
      return (await ask({ do: 'restartContainer', pod })).devices ?? [];
    },
    async endPod(pod) {
      await ask({ do: 'endPod', pod });
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await gone;
    },
  };
}
