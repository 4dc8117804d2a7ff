import type { KubernetesObject } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { SHARED_FIELDS, type SharedField, type SharedValues, type SharingKind } from './shared-config.ts';

/** Operand is an operand, as far as shared values depend on it. */
export interface Operand extends KubernetesObject {
  /** It has copies of those shared values that its kind has. */
  readonly spec?: object | undefined;
}

/** copyIn returns an operand's copy of a shared value. */
export function copyIn({ spec }: Operand, field: SharedField): string | undefined {
  const values: SharedValues = spec ?? {};
  return values[field];
}

/** Operands are the operands that exist and have copies, by kind. */
export type Operands = { readonly [K in SharingKind]?: Operand | undefined };

/** Parent is the ZeroTrustWorkloadIdentityManager, as far as shared values depend on it. */
export type Parent = KubernetesObject & {
  readonly spec?: Partial<Pick<ZeroTrustWorkloadIdentityManager['spec'], SharedField | 'bundleConfig'>>;
};

/** parentValues returns the shared values of the ZeroTrustWorkloadIdentityManager. */
export function parentValues({ spec = {} }: Parent): SharedValues {
  const { trustDomain, clusterName, bundleConfig, bundleConfigMap, jwtIssuer } = spec;
  return { trustDomain, clusterName, bundleConfigMap: bundleConfig?.name ?? bundleConfigMap, jwtIssuer };
}

/**
 * inheritedValues returns the values in an operand's annotation: those that were filled in, or found equal. An annotation
 * that is not valid counts as absent, so that all copies count as the operand's own.
 */
export function inheritedValues({ metadata }: Operand): SharedValues {
  const text = metadata?.annotations?.[ANNOTATIONS.inherited];
  if (text === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  const values: { [F in SharedField]?: string } = {};
  for (const field of SHARED_FIELDS) {
    const value: unknown = Object.getOwnPropertyDescriptor(parsed, field)?.value;
    if (typeof value === 'string') values[field] = value;
  }
  return values;
}

/** inheritedAnnotation returns the text of the annotation for values. */
export function inheritedAnnotation(values: SharedValues): string {
  return JSON.stringify(
    Object.fromEntries(SHARED_FIELDS.flatMap((field) => (values[field] === undefined ? [] : [[field, values[field]]]))),
  );
}

/** Copy is an operand's copy of a shared value. */
export interface Copy {
  readonly kind: SharingKind;
  readonly value: string;
  /** Whether it is the operand's own value, and not one that follows the ZeroTrustWorkloadIdentityManager. */
  readonly isOwn: boolean;
}

/** copiesOf returns the copies of a field. Those of an operand that is being deleted do not count. */
export function copiesOf(field: SharedField, operands: Operands, owners: readonly SharingKind[]): readonly Copy[] {
  return owners.flatMap((kind): Copy[] => {
    const operand = operands[kind];
    const value = operand && copyIn(operand, field);
    if (operand === undefined || value === undefined || operand.metadata?.deletionTimestamp !== undefined) return [];
    return [{ kind, value, isOwn: inheritedValues(operand)[field] !== value }];
  });
}
