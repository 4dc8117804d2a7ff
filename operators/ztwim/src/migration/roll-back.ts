import { ConfigMap } from '@bowline/kubernetes';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import { readLive } from '../operand/shared-objects.ts';
import { writeInheritance } from '../operand/write-inheritance.ts';
import { copyIn, type Operand } from '../resolve/copies.ts';
import { inheritanceOf, pendingInheritance } from '../resolve/inheritance.ts';
import { resolve } from '../resolve/resolve.ts';
import type { SharedConfig, SharingKind } from '../resolve/shared-config.ts';
import { readBackup } from './backup.ts';
import type { MigrationContext } from './migration-context.ts';
import { type MigrationRecord, readRecord } from './migration-record.ts';
import type { MigrationState } from './migration-state.ts';
import { isRestored, planRollback, type RollbackPlan, SHARING_KINDS } from './plan-rollback.ts';
import { valuesIn, writeParent } from './write-parent.ts';

/** How long to wait if another replica, whose cache is older, has filled in a value again. */
const RETRY_MS = 1_000;

const KEY = { name: SINGLETON };

/**
 * rollBack restores the specs, the ZeroTrustWorkloadIdentityManager first: while it has the values, operands inherit them.
 * Each run derives from the objects what is left to do.
 */
export async function rollBack(context: MigrationContext): Promise<MigrationState> {
  const { live, deps, log } = context;
  const objects = await readLive(live);
  const { parent } = objects;
  const record = parent && readRecord(parent);
  // Events about what changed since the cached version start another run.
  if (!parent || !record || record.isRolledBack) return rollingBack(record?.backup);
  const { backup } = record;
  const key = { namespace: deps.config.operandNamespace, name: backup };
  const stored = await live.find(ConfigMap, key);
  if (!stored) {
    const reason = `cannot roll back: the ConfigMap ${key.namespace}/${backup} with the specs does not exist; restore it, or set the annotation ${ANNOTATIONS.migration} to run`;
    return { phase: 'Failed', reason, backup };
  }
  const plan = planRollback({ ...objects, parent }, readBackup(stored), record);
  if (plan.refusal !== undefined) return { phase: 'Failed', reason: plan.refusal, backup };
  if (!plan.parent.isDone) {
    const isBehind = SHARING_KINDS.some((kind) =>
      isPending(resolve(parent, objects.operands), kind, objects.operands[kind]),
    );
    // Without the central value, an operand that has not got it yet would use the one before. It gets it in this run.
    if (isBehind) return { ...rollingBack(backup), requeueAfterMs: RETRY_MS };
    await restoreParent(context, parent, plan, record);
    // Its event starts the next run: then this process knows that operands no longer inherit the values.
    return rollingBack(backup);
  }
  let isDone = true;
  for (const kind of SHARING_KINDS) {
    isDone = (await restoreOperand(context, kind, objects.operands[kind], plan)) && isDone;
  }
  if (!isDone) return { ...rollingBack(backup), requeueAfterMs: RETRY_MS };
  const fields = record.fields.filter((field) => !plan.undone.includes(field));
  await writeParent(context, parent, valuesIn(parent, fields), { backup, fields, isRolledBack: true });
  if (plan.skipped.length > 0) log.warn('not restored, because they were deleted since', { kinds: plan.skipped });
  return rolledBack(backup);
}

/** rolledBack returns the state after a rollback. */
export function rolledBack(backup: string | undefined): MigrationState {
  const restored = backup === undefined ? 'there is no migration to undo' : 'the specs are restored';
  const reason = `${restored}; to migrate, set the annotation ${ANNOTATIONS.migration} to run`;
  return { phase: 'RolledBack', reason, backup };
}

/** rollingBack returns the state until a rollback has ended. */
export function rollingBack(backup: string | undefined): MigrationState {
  return { phase: 'Applied', reason: 'the migration is being rolled back', backup, isRollingBack: true };
}

function isPending(shared: SharedConfig, kind: SharingKind, operand: Operand | undefined): boolean {
  return operand !== undefined && pendingInheritance(shared, kind, operand) !== undefined;
}

async function restoreParent(
  context: MigrationContext,
  parent: ZeroTrustWorkloadIdentityManager,
  { undone }: RollbackPlan,
  record: MigrationRecord,
): Promise<void> {
  const kept = record.fields.filter((field) => !undone.includes(field));
  const stored = await writeParent(context, parent, valuesIn(parent, kept), record);
  // A value that the user has set too, after the migration.
  const names = [...undone, ...(undone.includes('bundleConfigMap') ? (['bundleConfig'] as const) : [])];
  const left = names.filter((name) => stored.spec[name] !== undefined);
  if (left.length === 0) return;
  const { uid, resourceVersion } = stored.metadata ?? {};
  const spec = Object.fromEntries(left.map((name) => [name, null]));
  const body = { metadata: { uid, resourceVersion }, spec };
  await context.live.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
}

/** restoreOperand returns whether the operand has the spec that it had, or does not get it back. */
async function restoreOperand(
  { live, fieldManager }: MigrationContext,
  kind: SharingKind,
  operand: Operand | undefined,
  { operands, undone, shared }: RollbackPlan,
): Promise<boolean> {
  const restored = operands[kind];
  if (!operand || !restored || restored.isDone) return true;
  const { object } = restored;
  const values = undone.flatMap((field) =>
    copyIn(object, field) === undefined ? [] : [[field, copyIn(object, field)]],
  );
  let stored: Operand = operand;
  if (values.length > 0) {
    // The values get another owner, or the next request would remove those that only the migration has written.
    const metadata = { ...KEY, uid: operand.metadata?.uid, resourceVersion: operand.metadata?.resourceVersion };
    const body = { metadata, spec: Object.fromEntries(values) };
    const options = { fieldManager: `${fieldManager}-rollback` };
    stored = await live.patch(OPERAND_RESOURCES[kind], KEY, { type: 'apply', force: true, body }, options);
  }
  stored = await writeInheritance(live, kind, stored, inheritanceOf(shared, kind, object));
  if (isRestored(stored, object, undone)) return true;
  // Somebody else has written a value that the operand did not have.
  const { uid, resourceVersion } = stored.metadata ?? {};
  const annotations = { [ANNOTATIONS.inherited]: object.metadata?.annotations?.[ANNOTATIONS.inherited] ?? null };
  const spec = Object.fromEntries(undone.map((field) => [field, copyIn(object, field) ?? null]));
  const body = { metadata: { uid, resourceVersion, annotations }, spec };
  return isRestored(await live.patch(OPERAND_RESOURCES[kind], KEY, { type: 'merge', body }), object, undone);
}
