import { open } from 'node:fs/promises';
import { systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Component } from '../control-plane.ts';
import type { ProcessExit, RunningProcess, Supervisor } from '../supervisor/supervisor.ts';
import { type ComponentSettings, componentArgs, logFile } from './components.ts';
import { probe } from './probe.ts';

/** ComponentSetOptions is what the components run with. */
export interface ComponentSetOptions {
  readonly supervisor: Supervisor;
  readonly settings: ComponentSettings;
  readonly paths: Readonly<Partial<Record<Component, string>>>;
  /** Trusts and authenticates the probes. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly readyTimeoutMs: number;
  readonly onCrash: (error: BowlineError) => void;
}

const POLL_MS = 20;
/** How long a component may take to end in good order. An API server waits a minute for open watches, etcd for the API server. */
const GRACE_MS = 1_000;
const LOG_LINES = 15;

/** ComponentSet starts, watches and ends the processes of one control plane. */
export class ComponentSet {
  readonly #options: ComponentSetOptions;
  /** Processes whose end was asked for; the end of any other is a crash. */
  readonly #expected = new Set<number>();
  #reportsCrashes = false;

  constructor(options: ComponentSetOptions) {
    this.#options = options;
  }

  /** reportCrashes begins to tell about components that end by themselves; before, the start tells. */
  reportCrashes(): void {
    this.#reportsCrashes = true;
  }

  /** endQuietly means that everything is about to end on purpose. */
  endQuietly(): void {
    this.#reportsCrashes = false;
  }

  pid(component: Component): number | undefined {
    return this.#options.supervisor.running(component)?.pid;
  }

  /** start runs a component and resolves when it is ready. */
  async start(component: Component, signal?: AbortSignal): Promise<void> {
    const process = await this.launch(component);
    await this.ready(component, process, signal);
  }

  /** launch runs a component without waiting for it. */
  async launch(component: Component): Promise<RunningProcess> {
    const { supervisor, settings, paths } = this.#options;
    const command = paths[component];
    if (!command) {
      throw new BowlineError(
        'BOWLINE_CONTROL_PLANE_OPTIONS',
        `${component} is not part of this control plane; start the control plane with it`,
      );
    }
    const running = await supervisor.start({
      name: component,
      command,
      args: componentArgs(component, settings),
      logFile: logFile(settings.folder, component),
      // The others keep nothing; asking an API server kindly can take a minute.
      stopSignal: component === 'etcd' ? 'SIGTERM' : 'SIGKILL',
    });
    void running.exited.then(async (exit) => {
      const wasExpected = this.#expected.delete(running.pid);
      if (wasExpected || !this.#reportsCrashes) return;
      this.#options.onCrash(await this.#failure(component, `ended by itself with ${describeExit(exit)}`));
    });
    return running;
  }

  /** ready resolves when a component answers its readiness probe, and rejects as soon as it has ended. */
  async ready(component: Component, process: RunningProcess, signal?: AbortSignal): Promise<void> {
    const ended = process.exited.then((exit) => ({ exit }));
    const deadline = systemClock.monotonic() + this.#options.readyTimeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const answer = await Promise.race([this.#probe(component), ended]);
      if ('exit' in answer) {
        throw await this.#failure(component, `ended with ${describeExit(answer.exit)} before it was ready`);
      }
      if (answer.status === 200 && isReady(component, answer.text)) return;
      if (systemClock.monotonic() > deadline) {
        const last = answer.text.trim().slice(0, 500) || `status ${answer.status}`;
        throw await this.#failure(component, `was not ready in ${this.#options.readyTimeoutMs} ms (${last})`);
      }
      await systemClock.sleep(POLL_MS, signal);
    }
  }

  /** end stops a component in good order, or at once, and resolves when it is gone. */
  async end(component: Component, how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { supervisor } = this.#options;
    const process = supervisor.running(component);
    if (!process) return;
    this.#expected.add(process.pid);
    // A paused process does not hear SIGTERM.
    if (how === 'SIGTERM') supervisor.signal(component, 'SIGCONT');
    supervisor.signal(component, how);
    using _timer = systemClock.setTimer(GRACE_MS, () => supervisor.signal(component, 'SIGKILL'));
    await process.exited;
  }

  #probe(component: Component): ReturnType<typeof probe> {
    const { settings, ca, cert, key } = this.#options;
    const { ports } = settings;
    switch (component) {
      case 'etcd':
        return probe(`http://127.0.0.1:${ports.etcdClient}/health`);
      case 'kube-apiserver':
        return probe(`https://127.0.0.1:${ports.apiServer}/readyz`, { ca, cert, key });
      case 'kube-controller-manager':
        return probe(`https://127.0.0.1:${ports.controllerManager}/healthz?verbose`, { ca });
      case 'kube-scheduler':
        return probe(`https://127.0.0.1:${ports.scheduler}/readyz`, { ca });
    }
  }

  async #failure(component: Component, what: string): Promise<BowlineError> {
    const file = logFile(this.#options.settings.folder, component);
    const lines = await lastLines(file, LOG_LINES);
    const advice = /address already in use/i.test(lines)
      ? 'another process took its port; start again or choose another port'
      : /unknown flag/i.test(lines)
        ? 'correct apiServerFlags, or use binaries of a supported version'
        : 'the end of its log may say why';
    return new BowlineError(
      'BOWLINE_CONTROL_PLANE_COMPONENT',
      `${component} ${what}; ${advice}${lines ? `\n--- last lines of ${file}\n${lines}` : ''}`,
    );
  }
}

/** The controller manager is healthy before its controllers exist; each has a line of its own once it runs. */
function isReady(component: Component, text: string): boolean {
  return component !== 'kube-controller-manager' || text.includes('[+]namespace-controller ok');
}

function describeExit(exit: ProcessExit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** lastLines reads the end of a log; empty when there is none. */
async function lastLines(path: string, count: number): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, 16_384));
    await file.read(buffer, 0, buffer.length, size - buffer.length);
    // Lines of flag help and stack dumps can be very long.
    const lines = buffer.toString('utf8').trimEnd().split('\n').slice(-count);
    return lines.map((line) => line.slice(0, 400)).join('\n');
  } finally {
    await file.close();
  }
}
