import type { OperandKind } from '../api/operand-kinds.ts';
import { DEPRECATED_COPIES, fieldsOf, type SharedConfig, type SharedField } from '../resolve/shared-config.ts';
import type { OperandCondition } from './condition.ts';
import type { ReportTarget } from './report.ts';

/** configSource returns the condition about where the shared values of an operand that acts come from. */
export function configSource(shared: SharedConfig, kind: OperandKind): OperandCondition {
  const legacy = legacyFields(shared, kind);
  if (legacy.length === 0) {
    return condition('InheritedFromZTWIM', 'all shared values come from the ZeroTrustWorkloadIdentityManager');
  }
  return condition(
    'LegacyOperandValue',
    `only operands set ${legacy.join(', ')}; move the values to the ZeroTrustWorkloadIdentityManager`,
  );
}

/** reportSource records the events about where the shared values of an operand that acts come from. */
export function reportSource({ event }: Pick<ReportTarget, 'event'>, shared: SharedConfig, kind: OperandKind): void {
  const legacy = legacyFields(shared, kind);
  const deprecated = legacy.filter((field) => DEPRECATED_COPIES[field] !== undefined);
  if (deprecated.length > 0) {
    const replacements = deprecated.map((field) => `ZeroTrustWorkloadIdentityManager.spec.${DEPRECATED_COPIES[field]}`);
    event('Warning', 'ConfigAdvice', `only operands set ${deprecated.join(', ')}; set ${replacements.join(', ')}`);
  }
  const inherited = fieldsOf(kind).filter((field) => isFrom(shared, field, 'ZTWIM'));
  if (inherited.length > 0) {
    event('Normal', 'ConfigInherited', `${inherited.join(', ')}: as in the ZeroTrustWorkloadIdentityManager`);
  }
}

function legacyFields(shared: SharedConfig, kind: OperandKind): readonly SharedField[] {
  return fieldsOf(kind).filter((field) => isFrom(shared, field, 'Operand'));
}

function isFrom({ fields }: SharedConfig, field: SharedField, source: 'ZTWIM' | 'Operand'): boolean {
  const result = fields[field];
  return result.state === 'resolved' && result.source === source;
}

function condition(reason: string, message: string): OperandCondition {
  return { type: 'ConfigSource', status: true, reason, message };
}
