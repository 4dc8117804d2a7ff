import type { Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { type ExpectedSecret, judge } from './judge.ts';
import { MANAGED_BY, MANAGER, PREFIX } from './world.ts';

const synced: Secret = {
  metadata: {
    namespace: 'n',
    name: 's',
    labels: { [MANAGED_BY]: MANAGER },
    annotations: { [`${PREFIX}/data-hash`]: 'x' },
  },
  data: { a: 'Yg==' },
};
const foreign: Secret = { metadata: { namespace: 'n', name: 's', resourceVersion: '1' }, data: { mine: 'eA==' } };
const values: ExpectedSecret = { state: 'synced', values: { a: 'b' } };

it.each<[string, readonly Secret[], ExpectedSecret, readonly string[]]>([
  ['a correct one', [synced], values, []],
  ['one that is missing', [], values, ['n/s: it is missing']],
  ['one with other values', [{ ...synced, data: { a: 'Yw==' } }], values, ['n/s: its content differs from the source']],
  [
    'one with a further value',
    [{ ...synced, data: { a: 'Yg==', c: '' } }],
    values,
    ['n/s: its content differs from the source'],
  ],
  [
    'one without annotations',
    [{ ...synced, metadata: { namespace: 'n', name: 's' } }],
    values,
    ["n/s: it is not annotated as JASM's"],
  ],
  ['one that was deleted', [], { state: 'gone' }, []],
  ['one that should be deleted', [synced], { state: 'gone' }, ['n/s: it still exists']],
  ['one of another owner', [foreign], { state: 'foreign', before: foreign }, []],
  [
    'one of another owner that was written',
    [synced],
    { state: 'foreign', before: foreign },
    ["n/s: another owner's Secret was changed"],
  ],
  ['an unexpected one', [synced, { metadata: { namespace: 'n', name: 't' } }], values, ['n/t: it is unexpected']],
])('judges %s', (_, found, wanted, problems) => {
  expect(judge(found, new Map([['n/s', wanted]]))).toEqual(problems);
});
