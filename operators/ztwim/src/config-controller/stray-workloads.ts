import { type KubernetesObject, keyOf, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { createWriter, type Leftover } from '@bowline/runtime/writing';
import { MANAGER, SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import { DELETION_ORDER, OPERAND_RESOURCES, OPERAND_WORKLOADS } from '../operand/operand-kind.ts';
import type { Singletons } from '../operand/singletons.ts';
import type { ConfigContext } from './controller.ts';

/**
 * removeStrayWorkloads deletes the workloads of operands that do not exist, consumers first. The garbage collector does not
 * delete them, because they have no owner, and no cleanup did: the finalizer of the operand was removed by hand.
 */
export async function removeStrayWorkloads(context: ConfigContext, { operands }: Singletons): Promise<void> {
  const { deps, live, fieldManager, signal, log } = context;
  // The kinds are sources of the controller.
  const get = context.get as (resource: Resource, key: ObjectKey) => KubernetesObject | undefined;
  const { remove } = createWriter({ client: live, fieldManager, signal });
  for (const kind of DELETION_ORDER) {
    const { resource, name } = OPERAND_WORKLOADS[kind];
    if (operands[kind] || !get(resource, { namespace: deps.config.operandNamespace, name })) continue;
    const stray = await findStrayWorkload(context, kind);
    if (!stray) continue;
    log.info('deleting the workload of an operand that does not exist', { operand: kind, workload: name });
    await remove(resource, keyOf(stray.object), { labels: MANAGED_BY, uid: stray.object.metadata?.uid });
  }
}

/** findStrayWorkload returns the workload of an operand that does not exist, unless it is being deleted. */
export async function findStrayWorkload(
  { live, deps }: Pick<ConfigContext, 'live' | 'deps'>,
  kind: OperandKind,
): Promise<Leftover | undefined> {
  const { resource, name } = OPERAND_WORKLOADS[kind];
  const object = await live.find(resource, { namespace: deps.config.operandNamespace, name });
  if (!object || object.metadata?.deletionTimestamp !== undefined) return undefined;
  if (object.metadata?.labels?.['app.kubernetes.io/managed-by'] !== MANAGER) return undefined;
  // Read last: an operand that was created in the meantime keeps the workload.
  return (await live.find(OPERAND_RESOURCES[kind], { name: SINGLETON })) ? undefined : { resource, object };
}
