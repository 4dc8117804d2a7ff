import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MIGRATION_PHASES } from '../../../operators/ztwim/src/api/migration-phases.ts';
import type { Hold } from '../../../operators/ztwim/src/resolve/hold.ts';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

/** Where conditions and events come from. */
const FOLDERS = ['agent', 'cascade', 'config-controller', 'csi', 'migration', 'oidc', 'operand', 'resolve', 'server'];

const ROOT = 'operators/ztwim/src';
const source = sourceFiles(ROOT, '.ts')
  .filter((file) => FOLDERS.some((folder) => file.startsWith(`${ROOT}/${folder}/`)))
  .filter((file) => !/\.test(-support)?\.ts$/.test(file))
  .map((file) => readFileSync(join(repositoryRoot, file), 'utf8'))
  .join('\n');

const page = readFileSync(new URL('./troubleshooting.md', import.meta.url), 'utf8');

/** What the type of the code and this list do not have in common does not compile. */
const HOLDS = {
  Conflict: true,
  IdentityChangeForbidden: true,
  Missing: true,
  ParentMissing: true,
} as const satisfies Readonly<Record<Hold['reason'], true>>;

/** Reasons and types that the code composes of the kind of a workload. */
const OF_WORKLOADS = ['StatefulSet', 'DaemonSet', 'Deployment'].flatMap((kind) =>
  ['Available', 'Ready', 'NotReady', 'NotFound'].map((state) => `${kind}${state}`),
);

/** Set by the runtime. */
const OF_RUNTIME = ['ReconcileFailed'];

/** section returns the text below a heading, up to the next heading of any level. */
function section(heading: string): string {
  const [, text = ''] = page.split(new RegExp(`\n###? ${heading}\n`));
  return text.split(/\n###? /)[0] ?? '';
}

/** namesIn returns the names in columns of the tables of a section. */
function namesIn(heading: string, ...columns: readonly number[]): readonly string[] {
  const rows = [...section(heading).matchAll(/^\| .* \|$/gm)].map(([row]) => row.split(/(?<!\\) ?\| ?/).slice(1));
  const cells = rows.flatMap((row) => columns.map((column) => row[column] ?? ''));
  return cells.filter((cell) => /^(`\w+`(, )?)+$/.test(cell)).flatMap((cell) => cell.match(/\w+/g) ?? []);
}

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort();
const namesOf = (pattern: RegExp): readonly string[] => [...source.matchAll(pattern)].map(([, name = '']) => name);

/** The reasons of events, wherever one is recorded. Those of conditions SettingsAgree are also events. */
const EVENTS = [
  ...namesOf(/\bevent\(\s*'(?:Normal|Warning)',\s*'(\w+)'/g),
  ...namesOf(/\['(?:Normal|Warning)', '(\w+)'\]/g),
  ...namesOf(/return disagree\(\s*'(\w+)'/g),
  ...['ConfigConflict', 'JWTIssuerMismatch'],
];

/** The types of conditions and their reasons, in all forms in which the code writes them. */
const CONDITIONS = [
  ...namesOf(/\b(?:type|TYPE)(?::| =) '(\w+)'/g),
  ...namesOf(/\breason(?::| =) '(\w+)'/g),
  ...namesOf(/\b(?:child|condition|disagree|wait|setNotReady)\(\s*(?:target, kind, )?'(\w+)'/g),
  ...namesOf(/\bcondition: '(\w+)'/g),
  ...namesOf(/'(TTLValidation\w+|Invalid[A-Z]\w+|WaitingFor\w+|CleanupTimedOut)'/g),
];

/** Strings in these places that belong to rendered objects and types of events. */
const OTHER_WORDS = new Set(['ClusterIP', 'Directory', 'DirectoryOrCreate', 'Normal', 'RollingUpdate']);

describe('the page', () => {
  it('documents every condition with its reasons, and no others', () => {
    const documented = [
      ...namesIn('Ready', 0),
      ...namesIn('Conditions', 0, 1),
      ...namesIn('Objects', 0),
      ...namesIn('Deletion', 0),
      ...namesIn('Migration', 0),
    ];
    const byText = ['Deleting', 'MigrationComplete'];
    for (const name of byText) expect(page).toContain(`The condition \`${name}\``);
    const expected = [...CONDITIONS, ...Object.keys(HOLDS), ...OF_WORKLOADS, ...OF_RUNTIME, ...MIGRATION_PHASES];
    const written = expected.filter((name) => /^[A-Z]/.test(name) && !OTHER_WORDS.has(name));
    expect(sorted([...documented, ...byText])).toEqual(sorted(written));
  });

  it('documents every event, and no others', () => {
    for (const event of ['CleanupTimeout', 'ConfigAdvice', 'CSIDriverMismatch']) expect(EVENTS).toContain(event);
    expect(sorted(namesIn('Events', 0))).toEqual(sorted(EVENTS));
  });
});
