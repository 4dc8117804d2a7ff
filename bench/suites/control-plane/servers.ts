import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../../support/connection.ts';
import { cpuMsOf, memoryOf } from '../../support/process-usage.ts';
import { subjectArguments } from '../../support/run-subject.ts';
import type { OpenedScene, Scene } from '../../support/scene.ts';
import { type Command, SubjectProcess } from '../../support/subject-process.ts';

/** Server is an API server in separate processes. */
export interface Server {
  readonly id: 'embedded' | 'kubernetes';
  readonly label: string;
  /** The same scene with this server. */
  readonly scene: Scene;
  /** memoryMb returns the memory of its processes. */
  memoryMb(): number;
  /** cpuMs returns the processor time used by its processes. */
  cpuMs(): number;
}

const startTimeoutMs = 60_000;

/** realServer returns the real server of this run: etcd and kube-apiserver, without their controllers. */
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

/** openEmbedded starts an embedded control plane with a port in a separate process. */
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

/** onOneCore pins a program with its compiler and its garbage collector to one core. */
export function onOneCore({ file, args }: Command): Command {
  return { file: 'taskset', args: ['--cpu-list', '0', file, ...args] };
}
