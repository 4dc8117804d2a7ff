import { findCondition } from '@bowline/runtime';
import { OPERAND_KINDS } from '../api/operand-kinds.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { conflictsIn } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import {
  type Conflict,
  fieldsOf,
  SHARED_FIELDS,
  type SharedConfig,
  type SharedField,
  type ValueSource,
} from '../resolve/shared-config.ts';

/** StatusRow is the state of one of the five objects, and the shared values that it uses. */
export interface StatusRow {
  readonly kind: string;
  /** `True`, `False` or `Unknown`. */
  readonly ready: string;
  readonly reason: string;
  readonly message: string;
  /** The values that the object needs. One that is missing or in conflict has neither value nor source. */
  readonly values: { readonly [F in SharedField]?: SharedValue };
  /** The conflicts that hold it. */
  readonly conflicts: readonly Conflict[];
}

/** SharedValue is a shared value and where it comes from. */
export interface SharedValue {
  readonly state: 'resolved' | 'conflict' | 'missing';
  readonly value?: string | undefined;
  readonly source?: ValueSource | undefined;
}

/** statusRows returns the state of the five objects. It is empty if none exists. */
export function statusRows({ parent, operands }: SharedObjects): readonly StatusRow[] {
  const shared = resolve(parent, operands);
  const objects = [
    { kind: 'ZeroTrustWorkloadIdentityManager', object: parent, fields: SHARED_FIELDS },
    ...OPERAND_KINDS.map((kind) => ({ kind, object: operands[kind], fields: fieldsOf(kind) })),
  ];
  if (objects.every(({ object }) => object === undefined)) return [];
  return objects.map(({ kind, object, fields }) => ({
    kind,
    ...(object ? readinessOf(object) : { ready: 'False', reason: 'NotCreated', message: 'the object does not exist' }),
    values: Object.fromEntries(fields.map((field) => [field, sharedValue(shared, field)])),
    conflicts: conflictsIn(shared, fields),
  }));
}

type Conditioned = Parameters<typeof findCondition>[0];

function readinessOf(object: Conditioned): Pick<StatusRow, 'ready' | 'reason' | 'message'> {
  const ready = findCondition(object, 'Ready');
  if (!ready) return { ready: 'Unknown', reason: 'NotReconciled', message: 'the operator has not reported yet' };
  const { status, reason, message } = ready;
  return { ready: status, reason, message };
}

function sharedValue({ fields }: SharedConfig, field: SharedField): SharedValue {
  const result = fields[field];
  return result.state === 'resolved' ? result : { state: result.state };
}
