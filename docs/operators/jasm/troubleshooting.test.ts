import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AnnotationProblem } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import type { Problem } from '../../../operators/jasm/src/secretsync/problem.ts';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

/** All reasons of Warnings: what the types of the code and this list do not have in common does not compile. */
const WARNINGS = {
  AnnotationInvalid: true,
  ProviderUnsupported: true,
  PathNotPermitted: true,
  SecretConflict: true,
  SecretFetchFailed: true,
  SecretKeyInvalid: true,
  SecretKeyMissing: true,
  SecretParseFailed: true,
  SecretSyncFailed: true,
  SecretTooLarge: true,
} as const satisfies Readonly<Record<AnnotationProblem['reason'] | Problem['reason'], true>>;

const page = readFileSync(new URL('./troubleshooting.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` \| /gm)].map(([, reason = '']) => reason);

it('the page has a row for every event reason, and no others', () => {
  expect(rows.toSorted()).toEqual([...Object.keys(WARNINGS), ...normalReasons()].sort());
});

/** The reasons of events that are no Warnings, wherever one is sent. */
function normalReasons(): readonly string[] {
  const sent = sourceFiles('operators/jasm/src', '.ts')
    .filter((file) => !/\.test(-support)?\.ts$/.test(file))
    .flatMap((file) => [...readFileSync(join(repositoryRoot, file), 'utf8').matchAll(/'Normal',\s*'(\w+)'/g)]);
  return [...new Set(sent.map(([, reason = '']) => reason))];
}
