/**
 * CelSyntaxError reports an expression that does not parse or whose types do not match; the message contains the
 * position.
 */
export class CelSyntaxError extends Error {
  /** The problem, without the position. */
  readonly problem: string;
  readonly line: number;
  readonly column: number;

  constructor(problem: string, source: string, position: number) {
    const before = source.slice(0, position).split('\n');
    const line = before.length;
    const column = (before.at(-1) ?? '').length + 1;
    super(`${problem} (line ${line}, column ${column})`);
    this.name = 'CelSyntaxError';
    this.problem = problem;
    this.line = line;
    this.column = column;
  }
}
