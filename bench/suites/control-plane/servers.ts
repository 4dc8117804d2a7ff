import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../support/connection.ts';
import { cpuMsOf, memoryOf } from '../../support/process-usage.ts';
import { subjectArguments } from '../../support/run-subject.ts';
import type { OpenedScene, Scene } from '../../support/scene.ts';
import { type Command, SubjectProcess } from '../../support/subject-process.ts';

/** Server is an API server in processes of its own. */
export interface Server {
  readonly id: 'embedded' | 'kubernetes';
  readonly label: string;
  /** The same scene, with this server in it. */
  readonly scene: Scene;
  /** memoryMb is what its processes hold now. */
  memoryMb(): number;
  /** cpuMs is the processor time that its processes have used. */
  cpuMs(): number;
}

const startTimeoutMs = 60_000;

/** realServer is the real one of this run: etcd and kube-apiserver, without their controllers. */
export function realServer(scene: OpenedScene): Server {
  const { serverPids } = scene.cluster;
  const sum = (of: (pid: number) => number): number => serverPids.reduce((total, pid) => total + of(pid), 0);
  return {
    id: 'kubernetes',
    label: 'Kubernetes (etcd and kube-apiserver)',
    scene,
    memoryMb: () => sum((pid) => memoryOf(pid).currentMb),
    cpuMs: () => sum(cpuMsOf),
  };
}

/** openEmbedded starts an embedded control plane with a port, in a process of its own. */
export async function openEmbedded(
  scene: Scene,
  name: string,
  command = scene.command('embedded-server'),
): Promise<Server & AsyncDisposable> {
  const connectionFile = join(scene.folder, `${name}.json`);
  const running = new SubjectProcess(command, subjectArguments(scene, { connectionFile }));
  try {
    await running.next(startTimeoutMs);
  } catch (error) {
    await running.release();
    throw error;
  }
  const connection = JSON.parse(readFileSync(connectionFile, 'utf8')) as Connection;
  return {
    id: 'embedded',
    label: 'embedded control plane',
    scene: { ...scene, connection, connectionFile },
    memoryMb: () => running.memory().currentMb,
    cpuMs: () => running.cpuMs(),
    [Symbol.asyncDispose]: () => running.release(),
  };
}

/** onOneCore keeps a program, its compiler and its garbage collector on one core. */
export function onOneCore({ file, args }: Command): Command {
  return { file: 'taskset', args: ['--cpu-list', '0', file, ...args] };
}
