import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ProcessSpec, SupervisorEvent, SupervisorRequest } from './protocol.ts';

/** How long a process with persistent data may take to stop before it is killed. */
const STOP_GRACE_MS = 5_000;

interface Supervised {
  readonly spec: ProcessSpec;
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
}

/**
 * runSupervisor is the main function of the supervisor process. It runs the requested programs and never outlives its parent:
 * when its standard input closes, which the kernel does however the parent dies, it stops its programs by process id, removes the
 * temporary folder and resolves. It uses only Node's own modules, so that it starts fast.
 */
export async function runSupervisor(): Promise<void> {
  const running = new Map<string, Supervised>();
  let temporary: string | undefined;

  // Once the parent is gone nothing reads the output; that must not end the clean-up.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const send = (event: SupervisorEvent): void => {
    process.stdout.write(`${JSON.stringify(event)}\n`);
  };
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => lines.close());

  try {
    for await (const line of lines) {
      // The other end is this package's own `Supervisor`; lines are its requests.
      const request = JSON.parse(line) as SupervisorRequest;
      switch (request.op) {
        case 'open':
          if (request.folder === undefined) temporary = await mkdtemp(join(tmpdir(), 'bowline-control-plane-'));
          send({ event: 'opened', folder: request.folder ?? temporary ?? '' });
          break;
        case 'start':
          start(request.spec, running, send);
          break;
        case 'signal':
          running.get(request.name)?.child.kill(request.signal);
          break;
      }
    }
  } finally {
    await Promise.all([...running.values()].map((supervised) => end(supervised, temporary !== undefined)));
    if (temporary) await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

function start(spec: ProcessSpec, running: Map<string, Supervised>, send: (event: SupervisorEvent) => void): void {
  const { name } = spec;
  if (running.has(name)) {
    send({ event: 'refused', name, message: `${name} is already running` });
    return;
  }
  let child: ChildProcess;
  try {
    const log = openSync(spec.logFile, 'a', 0o600);
    try {
      child = spawn(spec.command, spec.args, { stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
  } catch (error) {
    send({ event: 'refused', name, message: error instanceof Error ? error.message : String(error) });
    return;
  }
  const { pid } = child;
  if (pid === undefined) {
    child.once('error', (error) => send({ event: 'refused', name, message: error.message }));
    return;
  }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(name);
      send({ event: 'exited', name, pid, code, signal });
      resolve();
    });
  });
  // A signal that cannot be delivered is reported as an 'error' of a running child; only its exit matters.
  child.on('error', () => {});
  running.set(name, { spec, child, exited });
  send({ event: 'started', name, pid });
}

async function end({ spec, child, exited }: Supervised, isTemporary: boolean): Promise<void> {
  child.kill(isTemporary ? 'SIGKILL' : spec.stopSignal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await exited;
  clearTimeout(timer);
}
