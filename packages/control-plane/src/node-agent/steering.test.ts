import type { Pod } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { BEHAVIOUR_ANNOTATION, RULE_PREFIX } from './behaviour.ts';
import { steeringOf } from './steering.ts';

const pod = (behaviour?: string): Pod => ({
  metadata: {
    name: 'web-0',
    labels: { app: 'web' },
    ...(behaviour === undefined ? {} : { annotations: { [BEHAVIOUR_ANNOTATION]: behaviour } }),
  },
});

const namespace = (rules: Readonly<Record<string, unknown>>) => ({
  metadata: {
    annotations: Object.fromEntries(
      Object.entries(rules).map(([id, rule]) => [`${RULE_PREFIX}${id}`, JSON.stringify(rule)]),
    ),
  },
});

const crash = { do: 'crash' } as const;
const hold = { do: 'hold' } as const;
const hang = { do: 'hang-deletion' } as const;

it('does not change Pods without steering', () => {
  const others = { a: { name: 'web-1', behaviour: crash }, b: { selector: 'app!=web', behaviour: hold } };
  expect(steeringOf(pod(), namespace(others))).toEqual({ behaviour: undefined, deletionHangs: false });
  expect(steeringOf(pod(), undefined)).toEqual({ behaviour: undefined, deletionHangs: false });
});

it('applies the last rule by name, regardless of the order of annotations', () => {
  const rules = { b: { selector: 'app in (web)', behaviour: hold }, a: { name: 'web-0', behaviour: crash } };
  expect(steeringOf(pod(), namespace(rules)).behaviour).toEqual(hold);
});

it('prefers the annotation of the Pod over every rule', () => {
  expect(steeringOf(pod('run'), namespace({ a: { behaviour: hold } })).behaviour).toEqual({ do: 'run' });
});

it('combines a hanging deletion with other behaviours', () => {
  const rules = { a: { behaviour: crash }, b: { behaviour: hang } };
  expect(steeringOf(pod(), namespace(rules))).toEqual({ behaviour: crash, deletionHangs: true });
  expect(steeringOf(pod('hang-deletion'), undefined)).toEqual({ behaviour: undefined, deletionHangs: true });
});

it('holds a Pod whose steering cannot be parsed, and reports why', () => {
  const broken = namespace({ a: { selector: 'app in', behaviour: crash } });
  for (const steering of [steeringOf(pod('explode'), undefined), steeringOf(pod(), broken)]) {
    expect(steering.behaviour).toMatchObject({ do: 'hold', reason: 'InvalidSteering', message: expect.any(String) });
  }
});
