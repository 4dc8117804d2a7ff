import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import { inheritedValues } from '../resolve/copies.ts';
import { inherit } from './inherit.ts';
import { objectsWith, operandWith, parentWith } from './shared-objects.test-support.ts';

const VALUES = { trustDomain: 'a.io', clusterName: 'one' };
const objects = objectsWith(parentWith(VALUES));
const annotation = (values: object) => ({ [ANNOTATIONS.inherited]: JSON.stringify(values) });

describe('inherit', () => {
  it('fills empty fields, and names them in the annotation', () => {
    const { metadata, spec } = inherit('SpireAgent', operandWith('SpireAgent', { logLevel: 'debug' }), objects);
    expect(spec).toMatchObject({ ...VALUES, logLevel: 'debug' });
    expect(metadata?.annotations).toEqual(annotation(VALUES));
  });

  it('makes a value that equals the central one follow it', () => {
    const agent = inherit('SpireAgent', operandWith('SpireAgent', { trustDomain: 'a.io' }), objects);
    expect(agent.metadata?.annotations).toEqual(annotation(VALUES));
  });

  it('changes nothing when it is repeated', () => {
    const once = inherit('SpireAgent', operandWith('SpireAgent'), objects);
    expect(inherit('SpireAgent', once, objects)).toEqual(once);
  });

  it('leaves inherited values to the controller, which may know newer ones', () => {
    const newer = { trustDomain: 'new.io', bundleConfigMap: 'new' };
    const agent = inherit('SpireAgent', operandWith('SpireAgent', newer, newer), objects);
    expect(agent.spec).toMatchObject({ ...newer, clusterName: 'one' });
    expect(inheritedValues(agent)).toEqual({ ...newer, clusterName: 'one' });
  });

  it('changes nothing if the operand opted out, conflicts, or has no ZeroTrustWorkloadIdentityManager', () => {
    const plain = operandWith('SpireAgent');
    const optedOut = {
      ...plain,
      metadata: { name: 'cluster', annotations: { [ANNOTATIONS.inheritIntoSpec]: 'false' } },
    };
    expect(inherit('SpireAgent', optedOut, objects)).toBe(optedOut);
    const own = operandWith('SpireAgent', { trustDomain: 'b.io' });
    expect(inherit('SpireAgent', own, objects)).toBe(own);
    expect(inherit('SpireAgent', plain, objectsWith(undefined))).toBe(plain);
  });
});
