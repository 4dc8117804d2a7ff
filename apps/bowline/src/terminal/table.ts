const COLUMN_GAP = 3;

/** formatTable formats rows under headings in capitals, in columns as wide as their longest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows.map((row) => row.map(oneLine))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)) + COLUMN_GAP);
  const last = headings.length - 1;
  const padded = (cell: string, column: number): string => (column === last ? cell : cell.padEnd(widths[column] ?? 0));
  return lines.map((line) => `${line.map(padded).join('')}\n`).join('');
}

/** A cell with line breaks or control characters would damage the table, or the terminal. */
function oneLine(cell: string): string {
  return cell.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}
