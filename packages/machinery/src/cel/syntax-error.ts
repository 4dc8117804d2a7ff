/**
 * CelSyntaxError reports an expression that does not parse or whose types do not match; the message contains the
 * position.
 */
export class CelSyntaxError extends Error {
  /** The problem in the words of the API server, without the position and without hints. */
  readonly problem: string;
  /** The whole expression. */
  readonly source: string;
  readonly line: number;
  readonly column: number;

  constructor(problem: string, source: string, position: number, hint?: string) {
    const before = source.slice(0, position).split('\n');
    const line = before.length;
    const column = (before.at(-1) ?? '').length + 1;
    super(`${problem}${hint === undefined ? '' : `; ${hint}`} (line ${line}, column ${column})`);
    this.name = 'CelSyntaxError';
    this.problem = problem;
    this.source = source;
    this.line = line;
    this.column = column;
  }
}
