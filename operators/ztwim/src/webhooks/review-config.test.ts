import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import { reviewConfig } from './review-config.ts';
import { objectsWith, operandWith, parentWith } from './shared-objects.test-support.ts';

const NAMESPACE = 'spire';
const COMPLETE = { trustDomain: 'a.io', clusterName: 'one' };

type Operands = NonNullable<Parameters<typeof objectsWith>[1]>;
type Fields = Readonly<Record<string, unknown>>;

const create = (spec: Fields, operands: Operands = {}) =>
  reviewConfig({ before: undefined, after: parentWith(spec) }, objectsWith(undefined, operands).operands, NAMESPACE);
const update = (before: Fields, after: Fields, operands: Operands = {}) =>
  reviewConfig(
    { before: parentWith(before), after: parentWith(after) },
    objectsWith(undefined, operands).operands,
    NAMESPACE,
  );

describe('a new ZeroTrustWorkloadIdentityManager', () => {
  it('is accepted without an issuer', () => {
    expect(create(COMPLETE)).toEqual({ problems: [], warnings: [] });
  });

  it('is refused if no object has a trust domain or a cluster name', () => {
    expect(create({}).problems).toEqual([
      {
        field: 'spec.trustDomain',
        reason: 'FieldValueRequired',
        message: 'Required value: no object sets trustDomain; set ZeroTrustWorkloadIdentityManager.spec.trustDomain',
      },
      {
        field: 'spec.clusterName',
        reason: 'FieldValueRequired',
        message: 'Required value: no object sets clusterName; set ZeroTrustWorkloadIdentityManager.spec.clusterName',
      },
    ]);
  });

  it('is accepted with a warning if an operand has the values', () => {
    const { problems, warnings } = create({ clusterName: 'one' }, { SpireAgent: operandWith('SpireAgent', COMPLETE) });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'trustDomain is not set: "a.io" is used, because an operand (SpireServer, SpireAgent, SpireOIDCDiscoveryProvider) has this value; set spec.trustDomain to it',
    ]);
  });

  it('is refused with both values if it contradicts an operand', () => {
    const server = operandWith('SpireServer', { trustDomain: 'b.io', bundleConfigMap: 'other' });
    const { problems } = create({ ...COMPLETE, bundleConfig: { name: 'bundle' } }, { SpireServer: server });
    expect(problems).toEqual([
      {
        field: 'spec.trustDomain',
        reason: 'FieldValueInvalid',
        message:
          'Invalid value: "a.io": SpireServer.spec.trustDomain is "b.io", but ZeroTrustWorkloadIdentityManager.spec.trustDomain is "a.io"; remove the field from the SpireServer, or set both to the same value',
      },
      expect.objectContaining({
        field: 'spec.bundleConfig.name',
        message: expect.stringMatching(/"bundle".*"other"/) as string,
      }),
    ]);
  });

  it('is accepted if a value of an operand was inherited from its predecessor', () => {
    const server = operandWith('SpireServer', { trustDomain: 'b.io' }, { trustDomain: 'b.io' });
    expect(create(COMPLETE, { SpireServer: server }).problems).toEqual([]);
  });

  it('is refused with values that no operand can use, which are not repeated if they may be secret', () => {
    const spec = { ...COMPLETE, jwtIssuer: 'https://user:canary@a.io', bundleConfig: { name: 'spire-agent' } };
    const { problems } = create(spec);
    expect(problems.map(({ field }) => field)).toEqual(['spec.bundleConfig.name', 'spec.jwtIssuer']);
    expect(problems[1]?.message).toContain('jwtIssuer contains a user name or password');
    expect(JSON.stringify(problems)).not.toContain('canary');
    expect(update(spec, { ...spec, labels: { team: 'a' } }).problems).toEqual([]);
  });

  it('is refused with another namespace than that of the operands', () => {
    const { problems } = create({
      ...COMPLETE,
      namespace: 'other',
      bundleConfig: { name: 'bundle', namespace: 'third' },
    });
    expect(problems.map(({ field }) => field)).toEqual(['spec.namespace', 'spec.bundleConfig.namespace']);
    expect(problems[0]?.message).toBe(
      'Invalid value: "other": the operator deploys into the namespace "spire"; set it to this, or remove it',
    );
    const valid = { ...COMPLETE, namespace: NAMESPACE, bundleConfig: { name: 'bundle', namespace: NAMESPACE } };
    expect(create(valid).problems).toEqual([]);
  });
});

describe('a changed ZeroTrustWorkloadIdentityManager', () => {
  const own = { SpireServer: operandWith('SpireServer', { trustDomain: 'b.io' }) };

  it('is accepted if a conflict and a missing value are old', () => {
    const before = { trustDomain: 'a.io', namespace: 'other' };
    expect(update(before, { ...before, labels: { team: 'a' } }, own).problems).toEqual([]);
  });

  it('is refused if the value is changed to another one that contradicts an operand', () => {
    const { problems } = update(COMPLETE, { ...COMPLETE, trustDomain: 'c.io' }, own);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(/"b.io".*"c.io"/)]);
  });

  it('is accepted if it takes over the value of the operand', () => {
    expect(update(COMPLETE, { ...COMPLETE, trustDomain: 'b.io' }, own).problems).toEqual([]);
  });

  it('is accepted if it takes a side in a conflict between operands', () => {
    const both = { ...own, SpireAgent: operandWith('SpireAgent', { trustDomain: 'c.io' }) };
    const before = { clusterName: 'one' };
    expect(update(before, { ...before, trustDomain: 'b.io' }, both).problems).toEqual([]);
  });

  it('is refused if a value gets lost', () => {
    const before = { ...COMPLETE, jwtIssuer: 'https://a.io' };
    const { problems } = update(before, { trustDomain: 'a.io' });
    expect(problems.map(({ field }) => field)).toEqual(['spec.clusterName', 'spec.jwtIssuer']);
  });

  it('is accepted if operands keep the value that it gives up', () => {
    const server = operandWith('SpireServer', COMPLETE, COMPLETE);
    expect(update(COMPLETE, {}, { SpireServer: server })).toEqual({ problems: [], warnings: [] });
  });

  it.each([
    ['trustDomain', { trustDomain: 'b.io' }, /"a.io" to "b.io".*old trust domain become invalid/],
    ['clusterName', { clusterName: 'two' }, /"one" to "two".*server and the agents are rolled out/],
    ['bundleConfigMap', { bundleConfigMap: 'other' }, /"spire-bundle" to "other"/],
  ])('is accepted with a warning about what a change of %s causes', (_, change, warning) => {
    const follower = operandWith('SpireServer', COMPLETE, COMPLETE);
    const { problems, warnings } = update(COMPLETE, { ...COMPLETE, ...change }, { SpireServer: follower });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('is refused if identities would change although that is forbidden', () => {
    const forbidden = { ...COMPLETE, jwtIssuer: 'https://a.io', identityChangePolicy: 'Forbid' };
    expect(update(forbidden, { ...forbidden, trustDomain: 'b.io' }).problems).toEqual([
      {
        field: 'spec.trustDomain',
        reason: 'FieldValueForbidden',
        message:
          'Forbidden: trustDomain would change from "a.io" to "b.io", but ZeroTrustWorkloadIdentityManager.spec.identityChangePolicy is Forbid; keep "a.io", or set identityChangePolicy to Cascade',
      },
    ]);
    expect(update(forbidden, { ...forbidden, jwtIssuer: 'https://b.io' }).problems).toEqual([]);
    // Who bypassed admission may return to the identity that is in use.
    const history = { trustDomain: { first: 'b.io', current: 'b.io' }, clusterName: { current: 'one' } };
    const server = operandWith('SpireServer');
    const annotations = { [ANNOTATIONS.history]: JSON.stringify(history) };
    const used = { SpireServer: { ...server, metadata: { ...server.metadata, annotations } } };
    expect(update(forbidden, { ...forbidden, trustDomain: 'b.io' }, used).problems).toEqual([]);
    expect(update(forbidden, { ...forbidden, trustDomain: 'c.io' }, used).problems[0]?.message).toContain(
      'from "b.io"',
    );
    expect(create({ ...forbidden, trustDomain: 'c.io' }, used).problems.map(({ field }) => field)).toEqual([
      'spec.trustDomain',
    ]);
    expect(create({ ...forbidden, trustDomain: 'b.io' }, used).problems).toEqual([]);
    const cascade = { ...forbidden, trustDomain: 'b.io', identityChangePolicy: 'Cascade' };
    expect(update(forbidden, cascade).problems).toEqual([]);
  });
});
