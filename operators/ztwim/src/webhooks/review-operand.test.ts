import { describe, expect, it } from 'vitest';
import { reviewOperand } from './review-operand.ts';
import { objectsWith, operandWith, parentWith } from './shared-objects.test-support.ts';

const COMPLETE = { trustDomain: 'a.io', clusterName: 'one' };
const parent = parentWith(COMPLETE);
const server = (spec: Readonly<Record<string, unknown>>) => operandWith('SpireServer', spec);
const fields = (problems: readonly { readonly field: string }[]): readonly string[] =>
  problems.map(({ field }) => field);

describe('a new operand', () => {
  it('is refused with both values if it contradicts the central one', () => {
    const change = { before: undefined, after: server({ trustDomain: 'b.io' }) };
    expect(reviewOperand('SpireServer', change, objectsWith(parent)).problems).toEqual([
      {
        field: 'spec.trustDomain',
        reason: 'FieldValueInvalid',
        message:
          'Invalid value: "b.io": SpireServer.spec.trustDomain is "b.io", but ZeroTrustWorkloadIdentityManager.spec.trustDomain is "a.io"; remove the field from the SpireServer, or set both to the same value',
      },
    ]);
  });

  it('is refused if it contradicts another operand that comes later in the order', () => {
    const objects = objectsWith(parentWith({}), { SpireAgent: operandWith('SpireAgent', { clusterName: 'two' }) });
    const { problems } = reviewOperand('SpireServer', { before: undefined, after: server(COMPLETE) }, objects);
    expect(fields(problems)).toEqual(['spec.clusterName']);
    expect(problems[0]?.message).toContain('SpireAgent.spec.clusterName is "two", but SpireServer.spec.clusterName');
  });

  it('is accepted if other operands contradict each other', () => {
    const objects = objectsWith(parent, { SpireAgent: operandWith('SpireAgent', { clusterName: 'two' }) });
    const review = reviewOperand('SpireServer', { before: undefined, after: server(COMPLETE) }, objects);
    expect(review).toEqual({ problems: [], warnings: [] });
  });

  it('is accepted with a warning without a ZeroTrustWorkloadIdentityManager', () => {
    const change = { before: undefined, after: operandWith('SpiffeCSIDriver') };
    expect(reviewOperand('SpiffeCSIDriver', change, objectsWith(undefined))).toEqual({
      problems: [],
      warnings: [
        'there is no ZeroTrustWorkloadIdentityManager "cluster"; nothing is deployed or changed until it is created',
      ],
    });
  });
});

describe('a changed operand', () => {
  const old = server({ trustDomain: 'b.io' });

  it.each([
    ['another field changes', { trustDomain: 'b.io', logLevel: 'debug' }],
    ['the conflict ends', { trustDomain: 'a.io' }],
    ['the value is removed', {}],
  ])('is accepted despite an old conflict if %s', (_, spec) => {
    const change = { before: old, after: server(spec) };
    expect(reviewOperand('SpireServer', change, objectsWith(parent)).problems).toEqual([]);
  });

  it('is refused if one of its fields gets another value that conflicts', () => {
    const change = { before: old, after: server({ trustDomain: 'c.io' }) };
    expect(fields(reviewOperand('SpireServer', change, objectsWith(parent)).problems)).toEqual(['spec.trustDomain']);
  });

  it('is refused if it loses the annotation of a value that then conflicts', () => {
    const before = operandWith('SpireServer', { trustDomain: 'b.io' }, { trustDomain: 'b.io' });
    const { problems } = reviewOperand('SpireServer', { before, after: old }, objectsWith(parent));
    expect(fields(problems)).toEqual(['spec.trustDomain']);
  });

  it('may give up its value while the others contradict each other', () => {
    const objects = objectsWith(parentWith({}), {
      SpireAgent: operandWith('SpireAgent', { trustDomain: 'c.io' }),
      SpireOIDCDiscoveryProvider: operandWith('SpireOIDCDiscoveryProvider', { trustDomain: 'd.io' }),
    });
    const change = { before: old, after: server({}) };
    expect(reviewOperand('SpireServer', change, objects).problems).toEqual([]);
  });

  it('is refused if it would change an identity although that is forbidden', () => {
    const change = { before: server(COMPLETE), after: server({ ...COMPLETE, clusterName: 'two' }) };
    const forbidden = objectsWith(parentWith({ identityChangePolicy: 'Forbid' }));
    expect(fields(reviewOperand('SpireServer', change, forbidden).problems)).toEqual(['spec.clusterName']);
    const { problems, warnings } = reviewOperand('SpireServer', change, objectsWith(parentWith({})));
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('clusterName changes from "one" to "two"')]);
  });
});
