/** OperandCondition is a condition of an operand. */
export interface OperandCondition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Conditions that report something, but do not decide whether an operand is ready. */
const INFORMATIVE: ReadonlySet<string> = new Set([
  'KubeletAccess',
  'CreateOnlyMode',
  'MigrationComplete',
  'BackupAvailable',
  'Upgradeable',
]);

/** readyFrom returns the condition Ready that follows from the other ones: the first that is False decides. */
export function readyFrom(conditions: readonly OperandCondition[]): OperandCondition {
  const failed = conditions.find(({ type, status }) => !status && !INFORMATIVE.has(type));
  if (failed) return { type: 'Ready', status: false, reason: failed.reason, message: failed.message };
  return { type: 'Ready', status: true, reason: 'Ready', message: 'all objects are available' };
}
