import type { OperandKind } from '../api/operand-kinds.ts';

/** SHARED_FIELDS are the values that the ZeroTrustWorkloadIdentityManager and operands have in common. */
export const SHARED_FIELDS = ['trustDomain', 'clusterName', 'bundleConfigMap', 'jwtIssuer'] as const;

/** SharedField is the name of a shared value. */
export type SharedField = (typeof SHARED_FIELDS)[number];

/** SharingKind is a kind that has copies of shared values. */
export type SharingKind = Exclude<OperandKind, 'SpiffeCSIDriver'>;

/** FIELD_OWNERS are the operands that have a copy of each field, in the order in which their values count. */
export const FIELD_OWNERS: Readonly<Record<SharedField, readonly SharingKind[]>> = {
  trustDomain: ['SpireServer', 'SpireAgent', 'SpireOIDCDiscoveryProvider'],
  clusterName: ['SpireServer', 'SpireAgent'],
  bundleConfigMap: ['SpireServer', 'SpireAgent'],
  jwtIssuer: ['SpireServer', 'SpireOIDCDiscoveryProvider'],
};

/** fieldsOf returns the shared values that an operand has copies of and needs. */
export function fieldsOf(kind: OperandKind): readonly SharedField[] {
  return SHARED_FIELDS.filter((field) => (FIELD_OWNERS[field] as readonly OperandKind[]).includes(kind));
}

/** DEPRECATED_COPIES are the fields whose copies in operands are deprecated, and what replaces them. */
export const DEPRECATED_COPIES: { readonly [F in SharedField]?: string } = {
  trustDomain: 'trustDomain',
  clusterName: 'clusterName',
  bundleConfigMap: 'bundleConfig',
};

/** DEFAULT_BUNDLE is the bundle ConfigMap if no object names one. */
export const DEFAULT_BUNDLE = 'spire-bundle';

/** SharedValues are the values of the shared fields, as far as an object has them. */
export type SharedValues = { readonly [F in SharedField]?: string | undefined };

/** ValueSource is where a value comes from. */
export type ValueSource = 'ZTWIM' | 'Operand' | 'Default';

/** Conflict is a value of an operand that contradicts another one. */
export interface Conflict {
  readonly field: SharedField;
  readonly kind: SharingKind;
  readonly value: string;
  /** The value of the ZeroTrustWorkloadIdentityManager or, if it has none, that of the first operand. */
  readonly wanted: string;
  /** The kind that has the wanted value. */
  readonly wantedBy: SharingKind | 'ZeroTrustWorkloadIdentityManager';
}

/** FieldResult is the result for one field. */
export type FieldResult =
  | { readonly state: 'resolved'; readonly value: string; readonly source: ValueSource }
  | { readonly state: 'conflict'; readonly conflicts: readonly Conflict[] }
  | { readonly state: 'missing' };

/** SharedConfig is the configuration that all operands use. */
export interface SharedConfig {
  /** Whether there is a ZeroTrustWorkloadIdentityManager. Without it, no operand acts. */
  readonly hasParent: boolean;
  readonly fields: Readonly<Record<SharedField, FieldResult>>;
}
