import type { OperandKind } from '../api/operand-kinds.ts';
import { fieldsOf, type SharedConfig } from '../resolve/shared-config.ts';
import type { OperandCondition } from './condition.ts';

/** configSource returns the condition about where the shared values of an operand that acts come from. */
export function configSource({ fields }: SharedConfig, kind: OperandKind): OperandCondition {
  const legacy = fieldsOf(kind).filter((field) => {
    const result = fields[field];
    return result.state === 'resolved' && result.source === 'Operand';
  });
  if (legacy.length === 0) {
    return condition('InheritedFromZTWIM', 'all shared values come from the ZeroTrustWorkloadIdentityManager');
  }
  return condition(
    'LegacyOperandValue',
    `only operands set ${legacy.join(', ')}; move the values to the ZeroTrustWorkloadIdentityManager`,
  );
}

function condition(reason: string, message: string): OperandCondition {
  return { type: 'ConfigSource', status: true, reason, message };
}
