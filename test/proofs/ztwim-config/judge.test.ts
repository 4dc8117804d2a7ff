import { seededRandom } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { inheritanceOf } from '../../../operators/ztwim/src/resolve/inheritance.ts';
import { resolve } from '../../../operators/ztwim/src/resolve/resolve.ts';
import type { SharedConfig } from '../../../operators/ztwim/src/resolve/shared-config.ts';
import { reviewOperand } from '../../../operators/ztwim/src/webhooks/review-operand.ts';
import { judge } from './judge.ts';
import { randomCase } from './random-case.ts';
import { OPERATOR, type Subject } from './subject.ts';

const MAX_CASES = 200;

/** findProblem returns the first problem of an operator with a broken part whose description contains a text. */
function findProblem(broken: Partial<Subject>, text: string, cases = MAX_CASES): string | undefined {
  for (let seed = 1; seed <= cases; seed++) {
    const random = seededRandom(seed);
    const { problems } = judge(randomCase(random), random, { ...OPERATOR, ...broken });
    const found = problems.find((problem) => problem.includes(text));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** rewritten returns a function that reads operands in another way. */
function rewritten(change: (object: object) => object): typeof resolve {
  return (parent, operands) =>
    resolve(
      parent,
      Object.fromEntries(
        Object.entries(operands).map(([kind, operand]) => [kind, operand && { ...operand, ...change(operand) }]),
      ),
    );
}

it('finds nothing wrong with the operator', () => {
  expect(findProblem({}, '', 40)).toBeUndefined();
});

let last: SharedConfig | undefined;

it.each<[string, Partial<Subject>, string]>([
  [
    'counts inherited values as own ones',
    { resolve: rewritten(({ metadata }: { metadata?: object }) => ({ metadata: { ...metadata, annotations: {} } })) },
    'expected',
  ],
  [
    'counts operands that are being deleted',
    {
      resolve: rewritten(({ metadata }: { metadata?: object }) => ({
        metadata: { ...metadata, deletionTimestamp: undefined },
      })),
    },
    'expected',
  ],
  [
    'prefers the values of operands',
    { resolve: (parent, operands) => resolve(parent && { ...parent, spec: {} }, operands) },
    'expected',
  ],
  [
    'takes the first operand that it finds',
    {
      resolve: (parent, { SpireServer, ...others }) =>
        resolve(parent, Object.keys(others)[0] === 'SpireAgent' ? { SpireServer, ...others } : others),
    },
    'for the same objects',
  ],
  [
    'remembers a result',
    {
      resolve: (parent, operands) => {
        last = parent ? resolve(parent, operands) : (last ?? resolve(parent, operands));
        return last;
      },
    },
    'expected',
  ],
  ['writes what an operand has already', { pendingInheritance: inheritanceOf }, 'without end'],
  [
    'overwrites values of users',
    {
      inherit: (_, operand, { parent }) => ({
        ...operand,
        spec: { ...operand.spec, trustDomain: parent?.spec.trustDomain },
      }),
    },
    'admission of',
  ],
  ['accepts every ZTWIM', { reviewConfig: () => ({ problems: [], warnings: [] }) }, 'is refused for nothing'],
  [
    'refuses changes because of old conflicts',
    { reviewOperand: (kind, { after }, objects) => reviewOperand(kind, { before: undefined, after }, objects) },
    'expected: nothing',
  ],
])('finds an operator that %s', (_, broken, problem) => {
  expect(findProblem(broken, problem)).toBeDefined();
});
