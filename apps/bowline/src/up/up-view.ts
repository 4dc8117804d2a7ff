import type { Operator } from '@bowline/runtime';
import { bowlineVersion } from '../bowline-version.ts';
import type { Io } from '../terminal/io.ts';
import { commandsToTry } from './commands-to-try.ts';
import { happeningLine, Screen, stateLine, type Terminal } from './screen.ts';
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

/** ReadyView holds what is shown once all is ready. */
export interface ReadyView {
  readonly cluster: UpCluster;
  readonly operators: readonly Operator[];
  /** Warnings about unsafe settings of the operators. */
  readonly warnings: readonly string[];
  readonly watched: WatchedObjects;
  readonly readyMs: number;
  readonly isReady: boolean;
  readonly keepsData: boolean;
}

/** Drawing more often than this is of no use. */
const BETWEEN_DRAWINGS_MS = 200;
const MOST_NOTES = 50;

/** UpView shows what `bowline up` does: progress, then a live picture, or lines, or JSON. */
export class UpView {
  readonly #options: UpViewOptions;
  readonly #screen: Screen | undefined;
  readonly #notes: string[] = [];
  readonly #told = new Map<string, string>();
  #heading: readonly string[] | undefined;
  #happened = 0;
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
    if (this.#notes.length > MOST_NOTES) this.#notes.shift();
  }

  /** ready starts to show the objects. */
  ready(view: ReadyView): void {
    const { io, json } = this.#options;
    const { cluster, watched, readyMs, isReady, warnings } = view;
    if (json) {
      const { kind, url, kubeconfig } = cluster;
      const objects = watched.states();
      const answer = { ready: isReady, readyMs, controlPlane: { kind, url }, kubeconfig, warnings, objects };
      io.out(`${JSON.stringify(answer)}\n`);
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
    }, BETWEEN_DRAWINGS_MS);
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
      happenings: watched.happenings(),
      notes: this.#notes,
    });
  }

  #print(watched: WatchedObjects): void {
    const { io } = this.#options;
    for (const state of watched.states()) {
      const id = `${state.operator} ${state.kind} ${state.key}`;
      const line = stateLine(state, io.colors.out);
      if (this.#told.get(id) !== line) io.out(`${line}\n`);
      this.#told.set(id, line);
    }
    const { total } = watched;
    for (const each of watched.happenings().slice(this.#happened - total)) {
      if (this.#happened < total) io.out(`${happeningLine(each, io.colors.out)}\n`);
    }
    this.#happened = total;
  }
}

function headingOf(
  { cluster, operators, warnings, readyMs, keepsData }: ReadyView,
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
    `stop       ${stop}`,
    ...warnings.map((warning) => `${colors.out.yellow('caution')}    ${warning}`),
  ];
}
