import { SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { type Conflict, fieldsOf, SHARED_FIELDS, type SharedConfig, type SharedField } from './shared-config.ts';

/** Hold is why an operand does not act: none of its objects is created, changed or deleted. */
export interface Hold {
  readonly reason: 'ParentMissing' | 'Conflict' | 'Missing' | 'IdentityChangeForbidden';
  readonly message: string;
  /** The fields that it is about. */
  readonly fields: readonly SharedField[];
}

/** EffectiveValues are the shared values of an operand that acts. */
export type EffectiveValues = { readonly [F in SharedField]: string };

/** holdOf returns why an operand does not act; undefined if it acts. */
export function holdOf(config: SharedConfig, kind: OperandKind): Hold | undefined {
  if (!config.hasParent) {
    return {
      reason: 'ParentMissing',
      message: `there is no ZeroTrustWorkloadIdentityManager "${SINGLETON}"; create it`,
      fields: [],
    };
  }
  const fields = fieldsOf(kind);
  const conflicts = conflictsIn(config, fields);
  if (conflicts.length > 0) {
    const message = conflicts.map(describeConflict).join('; ');
    return { reason: 'Conflict', message, fields: conflicts.map(({ field }) => field) };
  }
  const missing = missingIn(config, fields);
  if (missing.length > 0) {
    return { reason: 'Missing', message: missing.map(describeMissing).join('; '), fields: missing };
  }
  return undefined;
}

/** conflictsIn returns the conflicts about fields. */
export function conflictsIn({ fields }: SharedConfig, of: readonly SharedField[] = SHARED_FIELDS): readonly Conflict[] {
  return of.flatMap((field) => {
    const result = fields[field];
    return result.state === 'conflict' ? result.conflicts : [];
  });
}

/** missingIn returns the fields that no object sets. */
export function missingIn(
  { fields }: SharedConfig,
  of: readonly SharedField[] = SHARED_FIELDS,
): readonly SharedField[] {
  return of.filter((field) => fields[field].state === 'missing');
}

/** resolvedValue returns the value of a field; undefined if it is missing or in conflict. */
export function resolvedValue({ fields }: SharedConfig, field: SharedField): string | undefined {
  const result = fields[field];
  return result.state === 'resolved' ? result.value : undefined;
}

/** conflictEvent returns the reason of the event about a conflict. */
export function conflictEvent(fields: readonly SharedField[]): 'ConfigConflict' | 'JWTIssuerMismatch' {
  return fields.every((field) => field === 'jwtIssuer') ? 'JWTIssuerMismatch' : 'ConfigConflict';
}

/** describeConflict returns a message with both values and what to do. */
export function describeConflict({ field, kind, value, wanted, wantedBy }: Conflict): string {
  return `${kind}.spec.${field} is "${value}", but ${wantedBy}.spec.${field} is "${wanted}"; remove the field from the ${kind}, or set both to the same value`;
}

/** describeMissing returns a message that says where to set a field. */
export function describeMissing(field: SharedField): string {
  return `no object sets ${field}; set ZeroTrustWorkloadIdentityManager.spec.${field}`;
}
