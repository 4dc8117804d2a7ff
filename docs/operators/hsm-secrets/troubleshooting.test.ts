import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PoolStatus } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import type { GuardState } from '../../../operators/hsm-secrets/src/guard/guard-state.ts';
import type { ProblemReason } from '../../../operators/hsm-secrets/src/secret/problem.ts';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

/** Where the conditions and events of HSMDevices and HSMPools come from. */
const FOLDERS = ['agents', 'device', 'guard', 'mirroring', 'pool'];

const source = sourceOf(FOLDERS);
const secretSource = sourceOf(['secret']);

/** sourceOf returns the text of all files of folders, without tests. */
function sourceOf(folders: readonly string[]): string {
  return folders
    .flatMap((folder) => sourceFiles(`operators/hsm-secrets/src/${folder}`, '.ts'))
    .filter((file) => !/\.test(-support)?\.ts$/.test(file))
    .map((file) => readFileSync(join(repositoryRoot, file), 'utf8'))
    .join('\n');
}

/** What the types of the code and these lists do not have in common does not compile. */
const PHASES = {
  Aggregating: true,
  Error: true,
  Partial: true,
  Pending: true,
  Ready: true,
} as const satisfies Readonly<Record<NonNullable<PoolStatus['phase']>, true>>;

const GUARDS = {
  BindingMissing: true,
  Guarded: true,
  PolicyMissing: true,
} as const satisfies Readonly<Record<GuardState['reason'], true>>;

const HEALTH = {
  Claimed: true,
  Healthy: true,
  Stale: true,
  Unknown: true,
  Unplugged: true,
} as const satisfies Readonly<Record<NonNullable<PoolStatus['aggregatedDevices']>[number]['health'], true>>;

const PROBLEMS = {
  AgentFailed: true,
  DeviceAmbiguous: true,
  DeviceMissing: true,
  ForeignSecret: true,
  KeyInvalid: true,
  NoAgent: true,
  NotFound: true,
  NotPermitted: true,
  OutOfSync: true,
  TooLarge: true,
  WriteRefused: true,
} as const satisfies Readonly<Record<ProblemReason, true>>;

/** The same in the source of HSMSecrets. `Ready` has the reasons of `Synced`; Unavailable is the problem of an agent. */
const OTHER_WORDS_OF_SECRETS = new Set([
  ...['Claimed', 'Delete', 'Deployment', 'None', 'Normal', 'Opaque', 'True', 'Unavailable', 'Warning'],
  ...['Error', 'InSync', 'Pending', 'Ready', 'SyncProblem'],
]);

/** Strings in the source that look like names but are values, kinds, types of events or units. */
const OTHER_WORDS = new Set(
  [
    ['Normal', 'Warning', 'True', 'False', 'Deny', 'Fail', 'Forbidden', 'Failed', 'Succeeded', 'Equivalent'],
    ['In', 'Memory', 'PicoHSM', 'Recreate', 'SmartCardHSM', 'UnexpectedAdmissionError'],
    ['Active', 'None', 'Primary', 'ReadOnly', 'Standby'],
    // Reported as PINKeyMissing.
    ['PINMissing'],
    ['ClusterRole', 'ServiceAccount', 'RollingUpdate', 'RuntimeDefault', 'Exists', 'Egress', 'Ingress', 'NoSchedule'],
    ...[PHASES, GUARDS, HEALTH].map((names) => Object.keys(names)),
  ].flat(),
);

const page = readFileSync(new URL('./troubleshooting.md', import.meta.url), 'utf8');

/** section returns the text below a heading. */
function section(heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** namesIn returns the names in a column of the tables of a section, sorted and without duplicates. */
function namesIn(heading: string, ...columns: readonly number[]): readonly string[] {
  const rows = [...section(heading).matchAll(/^\| .* \|$/gm)].map(([row]) => row.split(/(?<!\\) ?\| ?/).slice(1));
  const cells = rows.flatMap((row) => columns.map((column) => row[column] ?? ''));
  return sorted(cells.filter((cell) => /^(`\w+`(, )?)+$/.test(cell)).flatMap((cell) => cell.match(/\w+/g) ?? []));
}

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort();
const namesOf = (pattern: RegExp, text = source): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

const SENT = /'(?:Normal|Warning)', '(\w+)'/g;
const WORD = /'([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|NoPKCS11)'/g;

/** The reasons of events, wherever one is sent. Those of terminal and slow errors and of objects of others are sent by the runtime. */
const EVENTS = [
  ...namesOf(/\b(?:normal|warning)\(\s*'(\w+)'/g),
  ...namesOf(SENT),
  ...namesOf(/(?:terminal|slow)\(\s*'(\w+)'/g),
  'ForeignObject',
];

/** The words of the source that are neither events nor other words: conditions and their reasons. */
const CONDITIONS = namesOf(WORD).filter((word) => !OTHER_WORDS.has(word) && !EVENTS.includes(word));

const SECRET_EVENTS = namesOf(SENT, secretSource);
const SECRET_CONDITIONS = namesOf(WORD, secretSource).filter(
  (word) => !OTHER_WORDS_OF_SECRETS.has(word) && !SECRET_EVENTS.includes(word),
);

/** Conditions and reasons that have the name of an event. */
const ALSO_EVENTS = ['AgentDeferred', 'DeviceLost', 'DuplicateSerial', 'ForeignObject', 'InvalidReport'];

describe('the page', () => {
  it('documents every phase of a pool', () => {
    // The last one is set by the runtime.
    expect(namesIn('Phases', 0)).toEqual(sorted([...Object.keys(PHASES), 'ReconcileFailed']));
  });

  it('documents every condition of a pool with its reasons, and no others', () => {
    const documented = namesIn('Other conditions', 0, 1);
    expect(CONDITIONS).toContain('ReportsGuarded');
    // Those of the phase are above the table of phases.
    const byPhase = ['DeviceAggregation'];
    expect(sorted([...documented, ...byPhase])).toEqual(
      sorted([...CONDITIONS, ...Object.keys(GUARDS), ...ALSO_EVENTS]),
    );
    for (const name of byPhase) expect(section('Phases')).toContain(`\`${name}\``);
  });

  it('documents every health of a device', () => {
    expect(namesIn('Health of a device', 0)).toEqual(sorted(Object.keys(HEALTH)));
  });

  it('documents every condition of an HSMSecret with its reasons, and no others', () => {
    const names = sorted(SECRET_CONDITIONS);
    expect(names).toEqual(expect.arrayContaining(Object.keys(PROBLEMS)));
    // The last one is set by the runtime.
    expect(namesIn('Conditions of an HSMSecret', 0, 1)).toEqual(sorted([...names, 'ReconcileFailed']));
  });

  it('documents every event of a pool, an HSMDevice and an HSMSecret, and no others', () => {
    for (const event of ['DeviceExpired', 'ImageUnknown', 'SelectorConflict']) expect(EVENTS).toContain(event);
    for (const event of ['SecretSynced', 'SyncFailed']) expect(SECRET_EVENTS).toContain(event);
    expect(namesIn('Events', 0)).toEqual(sorted([...EVENTS, ...SECRET_EVENTS]));
  });
});
