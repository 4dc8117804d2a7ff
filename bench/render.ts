import type { BenchResult, Measure, SubjectResult, TargetResult, Unit } from './result.ts';

/** renderPage renders the Markdown page of the kept results. */
export function renderPage(results: readonly BenchResult[]): string {
  const head = [
    '<!-- Written by `npm run bench -- SUITE` from bench/results; do not edit. -->',
    '',
    '# Benchmark results',
    '',
    'The last kept result of each suite. How it is measured, and how to read it: [README](README.md).',
    '',
  ];
  if (results.length === 0) head.push('Nothing has been measured yet.', '');
  return [...head, ...results.flatMap(renderSuite)].join('\n');
}

function renderSuite(result: BenchResult): string[] {
  const { machine } = result;
  return [
    `## ${result.title}`,
    '',
    `- Command: \`${result.command}\``,
    `- Date: ${result.date}`,
    `- Machine: ${machine.cores} cores, ${machine.memoryGb} GB memory, ${machine.platform}, load before the run ${machine.loadBefore}`,
    `- Versions: ${Object.entries(machine.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    '',
    '### Targets',
    '',
    ...table(
      ['Measure', 'Subject', 'Value', 'Compared with', 'Peer value', 'Comparison', 'Target', 'Reached'],
      result.measures.flatMap((measure) => measure.targets.map((target) => targetRow(measure, target))),
    ),
    '',
    ...missed(result),
    '### All values',
    '',
    ...table(
      ['Measure', 'Subject', 'Median', 'Min', 'Max', 'Rounds'],
      result.measures.flatMap((measure) => measure.subjects.map((subject) => subjectRow(measure, subject))),
    ),
    '',
    ...(result.notes.length === 0 ? [] : ['### Notes', '', ...result.notes.map((note) => `- ${note}`), '']),
  ];
}

function targetRow(measure: Measure, target: TargetResult): string[] {
  const against = target.against === undefined ? undefined : find(measure, target.against);
  return [
    measure.title,
    find(measure, target.subject)?.label ?? target.subject,
    displayedValue(find(measure, target.subject), measure.unit),
    against?.label ?? '',
    against === undefined ? '' : displayedValue(against, measure.unit),
    target.against === undefined || target.value === undefined ? '' : compared(target, target.value, measure.unit),
    `${target.bound} ${compared(target, target.limit, measure.unit)}`,
    target.reached === undefined ? 'not measured' : target.reached ? 'yes' : '**no**',
  ];
}

function missed(result: BenchResult): string[] {
  const lines = result.measures.flatMap((measure) =>
    measure.targets
      .filter(({ reached }) => reached === false)
      .map(({ because, against }) => {
        const peer = against === undefined ? '' : ` against ${find(measure, against)?.label ?? against}`;
        return `- ${measure.title}${peer}: missed, because ${because ?? 'of a cost that was not profiled yet'}.`;
      }),
  );
  return lines.length === 0 ? [] : ['Not reached:', '', ...lines, ''];
}

function subjectRow(measure: Measure, subject: SubjectResult): string[] {
  if ('leftOut' in subject) return [measure.title, subject.label, `skipped: ${subject.leftOut}`, '', '', ''];
  return [
    measure.title,
    subject.label,
    format(subject.median, measure.unit),
    format(subject.min, measure.unit),
    format(subject.max, measure.unit),
    String(subject.rounds),
  ];
}

/** describeResult returns one terminal line per measured subject and one per target. */
export function describeResult(result: BenchResult): string[] {
  const lines: string[] = [];
  for (const measure of result.measures) {
    lines.push(measure.title);
    for (const subject of measure.subjects) {
      const extent =
        'leftOut' in subject ? '' : `  (${format(subject.min, measure.unit)} to ${format(subject.max, measure.unit)})`;
      lines.push(`  ${subject.label.padEnd(46)} ${displayedValue(subject, measure.unit).padStart(14)}${extent}`);
    }
    for (const target of measure.targets) {
      const [, label, , peer, , displayed, wanted, reached] = targetRow(measure, target);
      const alone = measure.subjects.length > 1 ? `${label}, target` : 'target';
      const what = peer === '' ? alone : `${displayed || 'compared'} against ${peer}, target`;
      lines.push(`  ${what} ${wanted}: ${(reached ?? '').replaceAll('*', '')}`);
    }
  }
  return lines;
}

function find(measure: Measure, id: string): SubjectResult | undefined {
  return measure.subjects.find((subject) => subject.id === id);
}

function displayedValue(subject: SubjectResult | undefined, unit: Unit): string {
  if (subject === undefined) return '';
  return 'leftOut' in subject ? `skipped: ${subject.leftOut}` : format(subject.median, unit);
}

/** compared formats a number in the terms of its target: a ratio, a difference, or a plain value. */
function compared(target: TargetResult, value: number, unit: Unit): string {
  if (target.against === undefined) return format(value, unit);
  return target.by === 'difference' ? `${value < 0 ? '' : '+'}${format(value, unit)}` : `${Number(value.toFixed(3))}x`;
}

function format(value: number, unit: Unit): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })} ${unit}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
