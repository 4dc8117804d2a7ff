import { expect, it } from 'vitest';
import { operatorsIn, scenarios, unproved } from './scenarios.ts';

it('finds the operators exported by a source text', () => {
  const source = `
export const first = defineOperator({ name: 'first', domain: 'bowline.dev', controllers: [] });
export const second: Operator = defineOperator({
  name: 'second', domain: 'bowline.dev',
});
const hidden = defineOperator({ name: 'hidden' , domain: 'bowline.dev'});
`;
  expect(operatorsIn(source)).toEqual(['first', 'second']);
});

it('has a scenario for every operator, including the examples', () => {
  expect(['operators', 'docs/examples'].flatMap(unproved)).toEqual([]);
  expect(new Set(scenarios.map(({ operator }) => operator.name)).size).toBe(scenarios.length);
});
