import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { Operand, Operands, Parent } from './copies.ts';
import { describeConflict, holdOf, missingIn, resolvedValue } from './hold.ts';
import { inheritanceOf, pendingInheritance } from './inheritance.ts';
import { resolve } from './resolve.ts';
import { FIELD_OWNERS, type FieldResult, type SharedValues } from './shared-config.ts';

const operand = (spec: SharedValues, inherited?: SharedValues | string, deleted = false): Operand => ({
  metadata: {
    name: 'cluster',
    ...(inherited === undefined
      ? {}
      : {
          annotations: {
            [ANNOTATIONS.inherited]: typeof inherited === 'string' ? inherited : JSON.stringify(inherited),
          },
        }),
    ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec,
});
const parent = (spec: NonNullable<Parent['spec']>): Parent => ({ metadata: { name: 'cluster' }, spec });

const trustDomain = (of: Parent | undefined, operands: Operands): FieldResult =>
  resolve(of, operands).fields.trustDomain;

describe('resolve', () => {
  const central = parent({ trustDomain: 'a.io' });

  it.each<[string, Operands]>([
    ['no operand exists', {}],
    ['operands have no copies', { SpireServer: operand({}), SpireAgent: operand({}) }],
    ['own copies are equal', { SpireServer: operand({ trustDomain: 'a.io' }) }],
    ['a copy follows it', { SpireAgent: operand({ trustDomain: 'old.io' }, { trustDomain: 'old.io' }) }],
    [
      'an operand with another value is being deleted',
      { SpireServer: operand({ trustDomain: 'b.io' }, undefined, true) },
    ],
  ])('uses the central value if %s', (_, operands) => {
    expect(trustDomain(central, operands)).toEqual({ state: 'resolved', value: 'a.io', source: 'ZTWIM' });
  });

  it.each<[string, Operand]>([
    ['it has no annotation', operand({ trustDomain: 'b.io' })],
    ['the annotation names another value', operand({ trustDomain: 'b.io' }, { trustDomain: 'a.io' })],
    ['the annotation is not JSON', operand({ trustDomain: 'b.io' }, '{')],
    ['the annotation is not an object', operand({ trustDomain: 'b.io' }, '["b.io"]')],
  ])('reports a conflict with an own copy if %s', (_, server) => {
    expect(trustDomain(central, { SpireServer: server })).toEqual({
      state: 'conflict',
      conflicts: [
        {
          field: 'trustDomain',
          kind: 'SpireServer',
          value: 'b.io',
          wanted: 'a.io',
          wantedBy: 'ZeroTrustWorkloadIdentityManager',
        },
      ],
    });
  });

  it('uses a value that only operands have', () => {
    const operands = {
      SpireAgent: operand({ trustDomain: 'a.io' }),
      SpireOIDCDiscoveryProvider: operand({ trustDomain: 'a.io' }),
    };
    expect(trustDomain(parent({}), operands)).toEqual({ state: 'resolved', value: 'a.io', source: 'Operand' });
  });

  it('counts inherited copies if the central value was removed', () => {
    const operands = { SpireServer: operand({ trustDomain: 'a.io' }, { trustDomain: 'a.io' }) };
    expect(trustDomain(parent({}), operands)).toEqual({ state: 'resolved', value: 'a.io', source: 'Operand' });
  });

  it('reports a conflict between operands, against the first of them', () => {
    const operands = { SpireAgent: operand({ trustDomain: 'b.io' }), SpireServer: operand({ trustDomain: 'a.io' }) };
    expect(trustDomain(parent({}), operands)).toMatchObject({
      state: 'conflict',
      conflicts: [{ kind: 'SpireAgent', value: 'b.io', wanted: 'a.io', wantedBy: 'SpireServer' }],
    });
  });

  it('has a default only for the bundle', () => {
    const config = resolve(parent({}), {});
    expect(missingIn(config)).toEqual(['trustDomain', 'clusterName', 'jwtIssuer']);
    expect(config.fields.bundleConfigMap).toEqual({ state: 'resolved', value: 'spire-bundle', source: 'Default' });
  });

  it.each([{ bundleConfig: { name: 'b' } }, { bundleConfigMap: 'b' }])('reads the bundle from %o', (spec) => {
    expect(resolvedValue(resolve(parent(spec), {}), 'bundleConfigMap')).toBe('b');
  });
});

describe('holdOf', () => {
  const complete = { trustDomain: 'a.io', clusterName: 'one', jwtIssuer: 'https://a.io' };

  it('holds every operand without a parent', () => {
    const config = resolve(undefined, { SpireServer: operand(complete) });
    expect(holdOf(config, 'SpiffeCSIDriver')).toMatchObject({ reason: 'ParentMissing' });
    expect(holdOf(config, 'SpireServer')).toMatchObject({ reason: 'ParentMissing' });
  });

  it.each<[OperandKind, string | undefined]>([
    ['SpireServer', 'Missing'],
    ['SpireAgent', undefined],
    ['SpiffeCSIDriver', undefined],
    ['SpireOIDCDiscoveryProvider', 'Missing'],
  ])('holds only the operands that need a missing value: %s', (kind, reason) => {
    const config = resolve(parent({ trustDomain: 'a.io', clusterName: 'one' }), {});
    expect(holdOf(config, kind)?.reason).toBe(reason);
  });

  it.each<[OperandKind, string | undefined]>([
    ['SpireServer', 'Conflict'],
    ['SpireAgent', 'Conflict'],
    ['SpiffeCSIDriver', undefined],
    ['SpireOIDCDiscoveryProvider', undefined],
  ])('holds every operand that needs a value in conflict: %s', (kind, reason) => {
    const config = resolve(parent(complete), { SpireAgent: operand({ clusterName: 'two' }) });
    expect(holdOf(config, kind)?.reason).toBe(reason);
  });

  it('names the kind, the field, both values and what to do', () => {
    const { fields } = resolve(parent(complete), { SpireAgent: operand({ clusterName: 'two' }) });
    const [conflict] = fields.clusterName.state === 'conflict' ? fields.clusterName.conflicts : [];
    expect(conflict && describeConflict(conflict)).toBe(
      'SpireAgent.spec.clusterName is "two", but ZeroTrustWorkloadIdentityManager.spec.clusterName is "one"; remove the field from the SpireAgent, or set both to the same value',
    );
  });
});

const someOf = fc.constantFrom('a.io', 'b.io');
const someValues = fc.record(
  { trustDomain: someOf, clusterName: someOf, bundleConfigMap: someOf, jwtIssuer: someOf },
  { requiredKeys: [] },
);
const someOperand = fc.option(
  fc.tuple(someValues, fc.option(someValues, { nil: undefined })).map(([spec, inherited]) => operand(spec, inherited)),
  { nil: undefined },
);
const someOperands = fc.record({
  SpireServer: someOperand,
  SpireAgent: someOperand,
  SpireOIDCDiscoveryProvider: someOperand,
});

describe('inheritanceOf', () => {
  it('contains all values of the parent that the operand shares, and nothing else', () => {
    const config = resolve(parent({ trustDomain: 'a.io', clusterName: 'one', jwtIssuer: 'https://a.io' }), {});
    expect(inheritanceOf(config, 'SpireAgent', operand({}))).toEqual({
      spec: { trustDomain: 'a.io', clusterName: 'one' },
      annotation: '{"trustDomain":"a.io","clusterName":"one"}',
    });
    expect(inheritanceOf(config, 'SpiffeCSIDriver', operand({}))).toBeUndefined();
  });

  it('keeps an inherited value that the parent no longer has', () => {
    const inherited = { trustDomain: 'a.io', clusterName: 'one' };
    const server = operand(inherited, inherited);
    const config = resolve(parent({ trustDomain: 'b.io' }), { SpireServer: server });
    expect(inheritanceOf(config, 'SpireServer', server)).toEqual({
      spec: { trustDomain: 'b.io', clusterName: 'one' },
      annotation: '{"trustDomain":"b.io","clusterName":"one"}',
    });
    expect(inheritanceOf(resolve(parent({}), { SpireServer: server }), 'SpireServer', server)).toBeUndefined();
  });

  it('is empty if the operand opted out', () => {
    const config = resolve(parent({ trustDomain: 'a.io' }), {});
    const server: Operand = { metadata: { annotations: { [ANNOTATIONS.inheritIntoSpec]: 'false' } } };
    expect(inheritanceOf(config, 'SpireServer', server)).toBeUndefined();
  });

  it('changes nothing about the result, and is complete after one write', () => {
    fc.assert(
      fc.property(someValues, someOperands, (central, operands) => {
        const of = parent(central);
        const before = resolve(of, operands);
        const after = Object.fromEntries(
          FIELD_OWNERS.trustDomain.flatMap((kind) => {
            const each = operands[kind];
            const inheritance = each && pendingInheritance(before, kind, each);
            if (!inheritance) return each ? [[kind, each]] : [];
            const written = operand({ ...each.spec, ...inheritance.spec }, inheritance.annotation);
            expect(pendingInheritance(before, kind, written)).toBeUndefined();
            return [[kind, written]];
          }),
        );
        expect(resolve(of, after)).toEqual(before);
      }),
    );
  });
});
