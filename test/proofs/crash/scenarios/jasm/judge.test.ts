import type { Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { judge, type Wanted } from './judge.ts';
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
const values: Wanted = { state: 'synced', values: { a: 'b' } };

it.each<[string, readonly Secret[], Wanted, readonly string[]]>([
  ['one that holds what it should', [synced], values, []],
  ['one that is missing', [], values, ['n/s: it is not there']],
  ['one with other values', [{ ...synced, data: { a: 'Yw==' } }], values, ["n/s: its content is not the source's"]],
  [
    'one with a further value',
    [{ ...synced, data: { a: 'Yg==', c: '' } }],
    values,
    ["n/s: its content is not the source's"],
  ],
  [
    'one without marks',
    [{ ...synced, metadata: { namespace: 'n', name: 's' } }],
    values,
    ["n/s: it is not marked as JASM's"],
  ],
  ['one that is gone', [], { state: 'gone' }, []],
  ['one that should be gone', [synced], { state: 'gone' }, ['n/s: it is still there']],
  ['one of somebody else', [foreign], { state: 'foreign', before: foreign }, []],
  [
    'one of somebody else that was written',
    [synced],
    { state: 'foreign', before: foreign },
    ["n/s: somebody else's Secret was changed"],
  ],
  [
    'one more than were asked for',
    [synced, { metadata: { namespace: 'n', name: 't' } }],
    values,
    ['n/t: nobody asked for it'],
  ],
])('judges %s', (_, found, wanted, problems) => {
  expect(judge(found, new Map([['n/s', wanted]]))).toEqual(problems);
});
