import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { OperandCondition } from '../operand/condition.ts';
import type { Singletons } from '../operand/singletons.ts';
import { SHARED_FIELDS, type SharedConfig } from '../resolve/shared-config.ts';

type Conditions = readonly {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}[];

function readyOf(operand: Singletons['operands'][OperandKind]): Conditions[number] | undefined {
  const conditions: Conditions = operand?.status?.conditions ?? [];
  return conditions.find(({ type }) => type === 'Ready');
}

type OperandStatus = NonNullable<NonNullable<ZeroTrustWorkloadIdentityManager['status']>['operands']>[number];

/** operandStatus returns what the status of the ZeroTrustWorkloadIdentityManager contains about an operand: one entry, or none. */
export function operandStatus(kind: OperandKind, { operands }: Singletons): readonly OperandStatus[] {
  const operand = operands[kind];
  if (!operand) return [];
  const ready = readyOf(operand);
  return [
    {
      name: operand.metadata?.name ?? '',
      kind,
      ready: ready?.status === 'True' ? ('true' as const) : ('false' as const),
      message: ready?.message ?? 'it has not been reconciled yet',
      // The schema of the kinds allows only these values.
      conditions: (operand.status?.conditions ?? []) as OperandStatus['conditions'],
    },
  ];
}

/** effectiveConfig returns the shared values in use, and where they come from. */
export function effectiveConfig({ fields }: SharedConfig) {
  const resolved = SHARED_FIELDS.flatMap((field) => {
    const result = fields[field];
    return result.state === 'resolved' ? [[field, result] as const] : [];
  });
  return {
    ...Object.fromEntries(resolved.map(([field, { value }]) => [field, value])),
    sources: Object.fromEntries(resolved.map(([field, { source }]) => [field, source])),
  };
}

/** The reasons of operands that become ready, or report another reason, without anybody's help. */
const PROGRESSING = /^(?:Progressing|ParentMissing|Deleting)$|(?:NotReady|NotFound)$/;

/** operandsAvailable returns the condition about the required operands, in the order in which results list them. */
export function operandsAvailable(required: readonly OperandKind[], { operands }: Singletons): OperandCondition {
  const waiting = OPERAND_KINDS.filter((kind) => required.includes(kind)).flatMap((kind) => {
    const operand = operands[kind];
    if (!operand) return [{ text: `${kind}(not created)`, hasFailed: false }];
    const ready = readyOf(operand);
    if (ready?.status === 'True') return [];
    const reason = ready?.reason ?? 'Progressing';
    return [{ text: `${kind}(${reason})`, hasFailed: !PROGRESSING.test(reason) }];
  });
  const type = 'OperandsAvailable';
  if (waiting.length === 0) return { type, status: true, reason: 'Ready', message: 'all required operands are ready' };
  const reason = waiting.some(({ hasFailed }) => hasFailed) ? 'Failed' : 'Progressing';
  return { type, status: false, reason, message: `waiting for ${waiting.map(({ text }) => text).join(', ')}` };
}
