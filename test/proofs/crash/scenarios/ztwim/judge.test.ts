import { expect, it } from 'vitest';
import { type Expected, judge } from './judge.ts';

const found = new Map([
  ['Service a', { metadata: { name: 'a', uid: 'u' }, spec: { ports: [{ port: 1, protocol: 'TCP' }] } }],
]);
const service = (port: number): Expected => ({
  id: 'Service a',
  content: { spec: { ports: [{ port }], selector: {} } },
});

it.each<[string, readonly Expected[], readonly string[]]>([
  ['what is expected', [service(1)], []],
  ['an object of which only the existence counts', [{ id: 'Service a', content: undefined }], []],
  ['another value', [service(2)], ['Service a has another spec.ports[0].port']],
  [
    'a list of another length',
    [{ id: 'Service a', content: { spec: { ports: [] } } }],
    ['Service a has another spec.ports'],
  ],
  ['a missing object', [service(1), { id: 'Role b', content: {} }], ['Role b is missing']],
  ['what is left over', [], ['Service a is left over']],
])('judges %s', (_, expected, problems) => {
  expect(judge(found, expected)).toEqual(problems);
});
