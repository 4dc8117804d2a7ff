import type { ReconcileResult } from '@bowline/runtime';
import { OPERAND_KINDS, type OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { report } from '../operand/report.ts';
import { readSingletons, type Singletons } from '../operand/singletons.ts';
import { conflictsIn, describeConflict } from '../resolve/hold.ts';
import { SHARED_FIELDS, type SharedConfig } from '../resolve/shared-config.ts';
import type { ConfigContext } from './controller.ts';
import { linkOperands } from './link-operands.ts';
import { removeStrayWorkloads } from './stray-workloads.ts';

/** reconcile links the operands, writes shared values into them, and reports about all of them. */
export async function reconcile(context: ConfigContext): Promise<ReconcileResult> {
  const { object, status, event } = context;
  const singletons = readSingletons(context);
  await linkOperands(context, singletons);
  await removeStrayWorkloads(context, singletons);
  const conflicts = conflictsIn(singletons.shared);
  for (const conflict of conflicts) event('Warning', 'ConfigConflict', describeConflict(conflict));
  status.set({
    operands: OPERAND_KINDS.flatMap((kind) => operandStatus(kind, singletons)),
    effectiveConfig: effectiveConfig(singletons.shared),
    conflicts: conflicts.map(({ field, kind, value, wanted }) => ({ field, kind, value, wanted })),
  });
  report(context, [operandsAvailable(object.spec.requiredOperands, singletons)]);
  return undefined;
}

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

function operandStatus(kind: OperandKind, { operands }: Singletons): readonly OperandStatus[] {
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

function effectiveConfig({ fields }: SharedConfig) {
  const resolved = SHARED_FIELDS.flatMap((field) => {
    const result = fields[field];
    return result.state === 'resolved' ? [[field, result] as const] : [];
  });
  return {
    ...Object.fromEntries(resolved.map(([field, { value }]) => [field, value])),
    sources: Object.fromEntries(resolved.map(([field, { source }]) => [field, source])),
  };
}

function operandsAvailable(required: readonly OperandKind[], { operands }: Singletons): OperandCondition {
  const waiting = OPERAND_KINDS.filter((kind) => required.includes(kind)).flatMap((kind) => {
    const operand = operands[kind];
    if (!operand) return [`${kind}(not created)`];
    const ready = readyOf(operand);
    return ready?.status === 'True' ? [] : [`${kind}(${ready?.reason ?? 'Progressing'})`];
  });
  const type = 'OperandsAvailable';
  return waiting.length === 0
    ? { type, status: true, reason: 'Ready', message: 'all required operands are ready' }
    : { type, status: false, reason: 'Progressing', message: `waiting for ${waiting.join(', ')}` };
}
