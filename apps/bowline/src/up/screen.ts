import { stripVTControlCharacters } from 'node:util';
import type { Colors } from '../terminal/colors.ts';
import type { DisplayedEvent, ObjectState } from './watched-objects.ts';

/** Picture holds what the screen shows. */
export interface Picture {
  /** Lines that stay: the cluster, the kubeconfig, and commands to try. */
  readonly heading: readonly string[];
  readonly states: readonly ObjectState[];
  readonly events: readonly DisplayedEvent[];
  /** Warnings and errors of the operators. */
  readonly notes: readonly string[];
}

const MAX_STATES = 12;
const MAX_EVENTS = 5;
const MAX_NOTES = 3;

/** draw returns the picture as lines that fit into a width. */
export function draw({ heading, states, events, notes }: Picture, colors: Colors, width: number): readonly string[] {
  const lines: string[] = [...heading, ''];
  let operator = '';
  for (const state of states.slice(0, MAX_STATES)) {
    if (state.operator !== operator) lines.push(colors.bold(state.operator));
    operator = state.operator;
    lines.push(stateLine(state, colors, width));
  }
  if (states.length > MAX_STATES) lines.push(colors.dim(`  and ${states.length - MAX_STATES} more`));
  if (events.length > 0) {
    lines.push('', colors.bold('latest'));
    for (const each of events.slice(-MAX_EVENTS)) lines.push(eventLine(each, colors, width));
  }
  for (const note of notes.slice(-MAX_NOTES)) lines.push(colors.yellow(cut(note, width)));
  return lines;
}

/** stateLine returns the line for one object. */
export function stateLine(
  { kind, key, isReady, message }: ObjectState,
  colors: Colors,
  width = Number.POSITIVE_INFINITY,
): string {
  const start = `  ${kind} ${key}  `;
  const word = isReady ? 'ready' : 'waiting';
  const rest = cut(message, width - start.length - word.length - 2);
  return `${start}${isReady ? colors.green(word) : colors.yellow(word)}  ${rest}`;
}

/** eventLine returns the line for one event. */
export function eventLine(
  { at, isWarning, text }: DisplayedEvent,
  colors: Colors,
  width = Number.POSITIVE_INFINITY,
): string {
  const time = at.slice(11, 19);
  const line = cut(text, width - time.length - 3);
  return `  ${colors.dim(time)} ${isWarning ? colors.yellow(line) : line}`;
}

function cut(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Terminal is where a picture is drawn repeatedly. */
export interface Terminal {
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const ESCAPE = '\u001B[';

/** Screen updates a picture in place: each drawing replaces the last one. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #colors: Colors;
  #height = 0;

  constructor(terminal: Terminal, colors: Colors) {
    this.#terminal = terminal;
    this.#colors = colors;
  }

  show(picture: Picture): void {
    const columns = this.#terminal.columns ?? 80;
    const lines = draw(picture, this.#colors, columns - 1);
    const up = this.#height > 0 ? `${ESCAPE}${this.#height}A` : '';
    // Clears everything below, so that a shorter picture leaves nothing of a longer one.
    this.#terminal.write(`${up}${ESCAPE}0J${lines.join('\n')}\n`);
    // Lines of the heading are meant to be copied: they are not cut, and wrap to several rows if they are too long.
    this.#height = lines.reduce((rows, line) => rows + rowsOf(line, columns), 0);
  }
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns));
}
