import { expect, it } from 'vitest';
import { ACCEPTED, REFUSED } from './match-conditions.test-support.ts';
import { matchConditionsProblem } from './match-conditions.ts';

it.each(ACCEPTED)('takes %s', (expression) => {
  expect(matchConditionsProblem([{ name: 'a', expression }])).toBeUndefined();
});

it.each(REFUSED)('rejects %s and explains why', (expression, text) => {
  expect(matchConditionsProblem([{ name: 'a', expression }])).toContain(text);
});

it('rejects a variable that the API server declares but never sets for webhooks', () => {
  expect(matchConditionsProblem([{ name: 'a', expression: "namespaceObject.metadata.name == 'x'" }])).toContain(
    "undeclared reference to 'namespaceObject'",
  );
});

it.each([
  [[{ name: 'a b', expression: 'true' }], '"a b" cannot work: its name part must consist of alphanumeric characters'],
  [[{ name: '', expression: 'true' }], 'its name part must be non-empty'],
  [['a', 'a'].map((name) => ({ name, expression: 'true' })), '"a" cannot work: its name is used twice'],
  [
    Array.from({ length: 65 }, (_, index) => ({ name: `a${index}`, expression: 'true' })),
    'it has 65 matchConditions, more than the allowed 64',
  ],
])('rejects condition names and counts that the API server does not accept', (conditions, text) => {
  expect(matchConditionsProblem(conditions)).toContain(text);
});
