import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Memory } from '../../support/process-usage.ts';
import type { RawRequest } from '../../support/raw-request.ts';
import { numberIn, startSubject, subjectArguments } from '../../support/run-subject.ts';
import type { ZtwimScene } from './scene.ts';

const timeoutMs = 180_000;

/** ZtwimRunOptions configures the process. */
export interface ZtwimRunOptions {
  /** The folder of the certificate of the webhooks. Defaults to none: the operator issues one. */
  readonly certificates?: string | undefined;
  /** What else the process observes: its writes, or when it is busy. Defaults to nothing. */
  readonly observe?: 'writes' | 'activity' | undefined;
}

/** RunningZtwim is the operator in a separate process. */
export interface RunningZtwim extends AsyncDisposable {
  /** settled waits until no work is left. */
  settled(): Promise<void>;
  /** idleMs waits until no work is left, and returns since when: milliseconds from the start of the process. It must be observed. */
  idleMs(): Promise<number>;
  /** writes returns the writes since the start, or since the last call, but not those of the Lease. They must be observed. */
  writes(): Promise<readonly RawRequest[]>;
  memory(): Memory;
  cpuMs(): number;
}

/** runZtwim starts the operator and waits until it works: its caches are synced, and it holds the Lease. */
export async function runZtwim(scene: ZtwimScene, options: ZtwimRunOptions = {}): Promise<RunningZtwim> {
  const { kubeconfig, webhookPort } = scene.known;
  if (kubeconfig === undefined || webhookPort === undefined) throw new Error('the operator is not installed yet');
  const { certificates = '', observe = '' } = options;
  const running = await startSubject({
    command: scene.command('bowline-ztwim'),
    args: subjectArguments({ ...scene, kubeconfig }, { webhookPort, certificates, observe }),
  });
  const order = (line: string) => {
    running.send(line);
    return running.next(timeoutMs);
  };
  return {
    async settled() {
      await order('settle');
    },
    idleMs: async () => numberIn(await order('settle'), 'ms'),
    async writes() {
      const file = join(scene.folder, 'recorded-writes.json');
      await order(`writes ${file}`);
      return JSON.parse(readFileSync(file, 'utf8')) as readonly RawRequest[];
    },
    memory: () => running.memory(),
    cpuMs: () => running.cpuMs(),
    [Symbol.asyncDispose]: () => running.release(),
  };
}
