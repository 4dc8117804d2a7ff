import { open } from 'node:fs/promises';
import { systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import type { Component } from '../control-plane.ts';
import type { ProcessExit, RunningProcess, Supervisor } from '../supervisor/supervisor.ts';
import { type ComponentSettings, componentArgs, logFile } from './components.ts';
import { probe } from './probe.ts';

/** ComponentSetOptions configures the components. */
export interface ComponentSetOptions {
  readonly supervisor: Supervisor;
  readonly settings: ComponentSettings;
  readonly paths: Readonly<Partial<Record<Component, string>>>;
  /** The CA and credentials of the probes. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly readyTimeoutMs: number;
  readonly onCrash: (error: BowlineError) => void;
}

const POLL_MS = 20;
/**
 * How long a component may take to shut down gracefully. An API server waits a minute for open watches, etcd for the API server.
 */
const GRACE_MS = 1_000;
const LOG_LINES = 15;
/**
 * Components that are started again when they exit unexpectedly, as a kubelet would: kube-scheduler exits by itself when its cache
 * contradicts the API server, which can happen when that is restarted. The others hold state or connections that tests rely on.
 */
const RESTARTED: ReadonlySet<Component> = new Set(['kube-controller-manager', 'kube-scheduler']);
const RESTART_DELAY_MS = 1_000;

/** ComponentSet starts, monitors and stops the processes of one control plane. */
export class ComponentSet {
  readonly #options: ComponentSetOptions;
  /** Processes that were stopped on purpose; the exit of any other is a crash. */
  readonly #expected = new Set<number>();
  #reportsCrashes = false;

  constructor(options: ComponentSetOptions) {
    this.#options = options;
  }

  /** reportCrashes starts to report components that exit unexpectedly; before, the start reports them. */
  reportCrashes(): void {
    this.#reportsCrashes = true;
  }

  /** endQuietly marks all exits from now on as expected. */
  endQuietly(): void {
    this.#reportsCrashes = false;
  }

  pid(component: Component): number | undefined {
    return this.#options.supervisor.running(component)?.pid;
  }

  /** start starts a component and resolves when it is ready. */
  async start(component: Component, signal?: AbortSignal): Promise<void> {
    const process = await this.launch(component);
    await this.ready(component, process, signal);
  }

  /** launch starts a component without waiting for it. */
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
      // The others store nothing; a graceful shutdown of an API server can take a minute.
      stopSignal: component === 'etcd' ? 'SIGTERM' : 'SIGKILL',
    });
    void running.exited.then(async (exit) => {
      const wasExpected = this.#expected.delete(running.pid);
      if (wasExpected || !this.#reportsCrashes) return;
      this.#options.onCrash(await this.#failure(component, `exited unexpectedly with ${describeExit(exit)}`));
      if (RESTARTED.has(component)) await this.#startAgain(component);
    });
    return running;
  }

  async #startAgain(component: Component): Promise<void> {
    await systemClock.sleep(RESTART_DELAY_MS);
    // Meanwhile the control plane may have ended, or a caller has started it.
    if (!this.#reportsCrashes || this.pid(component) !== undefined) return;
    // A failure means that the control plane is ending.
    await this.launch(component).catch(() => undefined);
  }

  /** ready resolves when a component passes its readiness probe, and rejects as soon as it has exited. */
  async ready(component: Component, process: RunningProcess, signal?: AbortSignal): Promise<void> {
    const ended = process.exited.then((exit) => ({ exit }));
    const deadline = systemClock.monotonic() + this.#options.readyTimeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const result = await Promise.race([this.#probe(component), ended]);
      if ('exit' in result) {
        throw await this.#failure(component, `exited with ${describeExit(result.exit)} before it was ready`);
      }
      if (result.status === 200 && isReady(component, result.text)) return;
      if (systemClock.monotonic() > deadline) {
        const last = result.text.trim().slice(0, 500) || `status ${result.status}`;
        throw await this.#failure(component, `was not ready within ${this.#options.readyTimeoutMs} ms (${last})`);
      }
      await systemClock.sleep(POLL_MS, signal);
    }
  }

  /** end stops a component gracefully or immediately, and resolves when it has exited. */
  async end(component: Component, how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { supervisor } = this.#options;
    const process = supervisor.running(component);
    if (!process) return;
    this.#expected.add(process.pid);
    // A paused process does not receive SIGTERM.
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
        : 'see the end of its log';
    return new BowlineError(
      'BOWLINE_CONTROL_PLANE_COMPONENT',
      `${component} ${what}; ${advice}${lines ? `\n--- last lines of ${file}\n${lines}` : ''}`,
    );
  }
}

/** The controller manager is healthy before its controllers exist; each has its own line once it runs. */
function isReady(component: Component, text: string): boolean {
  return component !== 'kube-controller-manager' || text.includes('[+]namespace-controller ok');
}

function describeExit(exit: ProcessExit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** lastLines reads the end of a log; empty if it does not exist. */
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
