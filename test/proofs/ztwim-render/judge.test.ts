import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Child } from '../../../operators/ztwim/src/objects/child.ts';
import {
  type GeneratedInputs,
  generatedInputs,
  renderAll,
} from '../../../operators/ztwim/src/testing/generated-inputs.test-support.ts';
import { judge } from './judge.ts';

const samples = fc.sample(generatedInputs, { seed: 1, numRuns: 8 });

/** edited returns a renderer that replaces a text in the objects. */
const edited =
  (from: RegExp, to: string) =>
  (inputs: GeneratedInputs): readonly Child[] =>
    renderAll(inputs).map((child) => ({
      ...child,
      object: JSON.parse(JSON.stringify(child.object).replace(from, to)) as Child['object'],
    }));

it('finds nothing wrong with what the operator renders', () => {
  for (const sample of samples) expect(judge(sample)).toEqual([]);
});

it.each<[string, (inputs: GeneratedInputs) => readonly Child[], string]>([
  [
    'a value in another place',
    edited(/trust_domain/g, 'trust_name'),
    'server.conf has undefined at server.trust_domain',
  ],
  ['another value', edited(/"max_open_conns\\": \d+/g, '"max_open_conns\\": 1'), 'max_open_conns'],
  ['a value that is lost', edited(/jwt_issuer/g, 'issuer'), 'oidc-discovery-provider.conf has undefined at jwt_issuer'],
  ['a broken reference', edited(/"serviceAccountName":"spire-agent"/g, '"serviceAccountName":"other"'), 'other'],
  [
    'an order of fields that matters',
    (inputs) => (Object.keys(inputs)[0] === 'server' ? renderAll(inputs) : renderAll(inputs).slice(1)),
    'order of the fields',
  ],
])('finds %s', (_, render, problem) => {
  expect(samples.flatMap((sample) => judge(sample, render)).join('\n')).toContain(problem);
});
