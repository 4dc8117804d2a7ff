/** locatedProblem formats a problem of an expression with the source line and a marker at its position. */
export function locatedProblem(
  problem: string,
  source: string,
  at: { readonly line: number; readonly column: number },
): string {
  const text = source.split('\n')[at.line - 1] ?? '';
  return `ERROR: <input>:${at.line}:${at.column}: ${problem}\n | ${text}\n | ${'.'.repeat(at.column - 1)}^`;
}
