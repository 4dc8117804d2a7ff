import { type Copy, copiesOf, type Operands, type Parent, parentValues } from './copies.ts';
import {
  type Conflict,
  DEFAULT_BUNDLE,
  FIELD_OWNERS,
  type FieldResult,
  type SharedConfig,
  type SharedField,
} from './shared-config.ts';

/**
 * resolve computes the values that all operands share, from the objects alone: the same objects give the same result,
 * whatever happened before. Controllers, webhooks, commands and the status use it, and compare nothing themselves.
 */
export function resolve(parent: Parent | undefined, operands: Operands): SharedConfig {
  const central = parent ? parentValues(parent) : {};
  const result = (field: SharedField): FieldResult =>
    resolveField(field, central[field], copiesOf(field, operands, FIELD_OWNERS[field]));
  return {
    hasParent: parent !== undefined,
    fields: {
      trustDomain: result('trustDomain'),
      clusterName: result('clusterName'),
      bundleConfigMap: result('bundleConfigMap'),
      jwtIssuer: result('jwtIssuer'),
    },
  };
}

function resolveField(field: SharedField, central: string | undefined, copies: readonly Copy[]): FieldResult {
  if (central !== undefined) {
    const others = copies.filter(({ isOwn, value }) => isOwn && value !== central);
    if (others.length > 0) return conflict(field, others, central, 'ZeroTrustWorkloadIdentityManager');
    return { state: 'resolved', value: central, source: 'ZTWIM' };
  }
  const [first] = copies;
  if (first) {
    const others = copies.filter(({ value }) => value !== first.value);
    if (others.length > 0) return conflict(field, others, first.value, first.kind);
    return { state: 'resolved', value: first.value, source: 'Operand' };
  }
  return field === 'bundleConfigMap'
    ? { state: 'resolved', value: DEFAULT_BUNDLE, source: 'Default' }
    : { state: 'missing' };
}

function conflict(
  field: SharedField,
  others: readonly Copy[],
  wanted: string,
  wantedBy: Conflict['wantedBy'],
): FieldResult {
  return { state: 'conflict', conflicts: others.map(({ kind, value }) => ({ field, kind, value, wanted, wantedBy })) };
}
