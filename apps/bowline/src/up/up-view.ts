import type { Operator } from '@bowline/runtime';
import { bowlineVersion } from '../bowline-version.ts';
import type { Io } from '../terminal/io.ts';
import { commandsToTry } from './commands-to-try.ts';
import { eventLine, Screen, stateLine, type Terminal } from './screen.ts';
import type { UpCluster } from './up-cluster.ts';
import type { WatchedObjects } from './watched-objects.ts';

/** UpViewOptions configures what is shown, and where. */
export interface UpViewOptions {
  readonly io: Io;
  /** Undefined without a terminal: then changes are printed as lines. */
  readonly terminal: Terminal | undefined;
  /** One JSON line when all is ready, and nothing else on standard output. */
  readonly json: boolean;
}

/** ListeningService is a service of an operator that reports its port. */
export interface ListeningService {
  readonly operator: string;
  readonly name: string;
  readonly port: number;
}

/** ReadyView holds what is shown once all is ready. */
export interface ReadyView {
  readonly cluster: UpCluster;
  readonly operators: readonly Operator[];
  /** Warnings about unsafe settings of the operators. */
  readonly warnings: readonly string[];
  /** Which samples are left out, and why. */
  readonly leftOut: readonly string[];
  readonly services: readonly ListeningService[];
  readonly watched: WatchedObjects;
  readonly readyMs: number;
  readonly isReady: boolean;
  readonly keepsData: boolean;
}

/** Drawing more often than this is of no use. */
const REDRAW_INTERVAL_MS = 200;
const MAX_NOTES = 50;

/** UpView shows what `bowline up` does: progress, then a live picture, or lines, or JSON. */
export class UpView {
  readonly #options: UpViewOptions;
  readonly #screen: Screen | undefined;
  readonly #notes: string[] = [];
  readonly #printedLines = new Map<string, string>();
  #heading: readonly string[] | undefined;
  #printedEvents = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: UpViewOptions) {
    this.#options = options;
    this.#screen = options.terminal && !options.json ? new Screen(options.terminal, options.io.colors.out) : undefined;
  }

  progress(line: string): void {
    const { io, json } = this.#options;
    if (!json) io.err(`${io.colors.err.dim(line)}\n`);
  }

  /** note shows a warning of the operators. */
  note(line: string): void {
    if (!this.#screen) {
      this.#options.io.err(line);
      return;
    }
    this.#notes.push(line.trimEnd());
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }

  /** ready starts to show the objects. */
  ready(view: ReadyView): void {
    const { io, json } = this.#options;
    const { cluster, watched, readyMs, isReady, warnings, leftOut, services } = view;
    if (json) {
      const { kind, url, kubeconfig } = cluster;
      const objects = watched.states();
      const controlPlane = { kind, url };
      const result = { ready: isReady, readyMs, controlPlane, kubeconfig, warnings, leftOut, services, objects };
      io.out(`${JSON.stringify(result)}\n`);
      return;
    }
    this.#heading = headingOf(view, io);
    if (!this.#screen) io.out(`${this.#heading.join('\n')}\n`);
    this.changed(watched);
  }

  /** changed shows changes, immediately or shortly after. */
  changed(watched: WatchedObjects): void {
    if (!this.#heading || this.#options.json || this.#isOver) return;
    if (!this.#screen) {
      this.#print(watched);
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw(watched);
    }, REDRAW_INTERVAL_MS);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (this.#heading) this.progress('stopping');
  }

  #draw(watched: WatchedObjects): void {
    this.#screen?.show({
      heading: this.#heading ?? [],
      states: watched.states(),
      events: watched.events(),
      notes: this.#notes,
    });
  }

  #print(watched: WatchedObjects): void {
    const { io } = this.#options;
    for (const state of watched.states()) {
      const id = `${state.operator} ${state.kind} ${state.key}`;
      const line = stateLine(state, io.colors.out);
      if (this.#printedLines.get(id) !== line) io.out(`${line}\n`);
      this.#printedLines.set(id, line);
    }
    const { total } = watched;
    for (const each of watched.events().slice(this.#printedEvents - total)) {
      if (this.#printedEvents < total) io.out(`${eventLine(each, io.colors.out)}\n`);
    }
    this.#printedEvents = total;
  }
}

function headingOf(
  { cluster, operators, warnings, leftOut, services, readyMs, keepsData }: ReadyView,
  { env, colors }: Io,
): readonly string[] {
  const { title, kubeconfig, isOwn } = cluster;
  const stop = isOwn && !keepsData ? 'Ctrl-C, which removes everything' : 'Ctrl-C';
  return [
    `${colors.out.green('ready')} bowline ${bowlineVersion} on the ${title} in ${(readyMs / 1000).toFixed(1)} s`,
    ...(kubeconfig === undefined ? [] : [`kubeconfig ${kubeconfig}`]),
    ...commandsToTry(operators, kubeconfig, env).map(
      (line, index) => `${index === 0 ? 'try       ' : '          '} ${line}`,
    ),
    ...services.map(({ operator, name, port }) => `serves     ${operator} ${name} on port ${port}`),
    `stop       ${stop}`,
    ...warnings.map((warning) => `${colors.out.yellow('caution')}    ${warning}`),
    ...leftOut.map((reason) => `${colors.out.yellow('left out')}   ${reason}`),
  ];
}
