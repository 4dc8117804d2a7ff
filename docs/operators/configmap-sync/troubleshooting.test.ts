import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUTHOR_NOT_REVIEWED } from '@bowline/runtime/access';
import { expect, it } from 'vitest';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

/** Strings in the source that look like reasons but are field values, kinds, conditions or sides. */
const OTHER_WORDS = new Set(
  [
    ['Authorized', 'Conflict', 'Ready', 'Reconciling', 'SourceAvailable', 'Stalled', 'Synced'],
    ['Bidirectional', 'Delete', 'Manual', 'Merge', 'NewestWins', 'OneWay', 'Orphan', 'Retain', 'SkipIfModified'],
    ['SourceWins', 'Destination', 'Source', 'Failed', 'InProgress', 'Pending', 'Success', 'Normal', 'Warning'],
    [
      'Destinations',
      'LastSync',
      'Reason',
      'ConfigMap',
      'ConfigMapSync',
      'ContentProblem',
      'Cluster',
      'Namespace',
      'Namespaced',
    ],
    ['Fail', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueTooLong'],
  ].flat(),
);

it('the page documents every reason of a ConfigMapSync', () => {
  const page = readFileSync(new URL('./troubleshooting.md', import.meta.url), 'utf8');
  const words = sourceFiles('operators/configmap-sync/src', '.ts')
    .filter((file) => !/\.test(-support)?\.ts$/.test(file))
    .flatMap((file) => [...readFileSync(join(repositoryRoot, file), 'utf8').matchAll(/'((?:[A-Z][a-z]+)+)'/g)])
    .map(([, word = '']) => word);
  const reasons = [...new Set([AUTHOR_NOT_REVIEWED, ...words])].filter((word) => !OTHER_WORDS.has(word)).sort();
  expect(reasons).toContain('SyncFailed');
  expect(reasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});
