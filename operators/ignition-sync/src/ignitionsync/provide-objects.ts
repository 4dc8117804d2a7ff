import { ConfigMap, PersistentVolumeClaim, Role, RoleBinding } from '@bowline/kubernetes';
import { isForbidden, isInvalid } from '@bowline/runtime/client';
import { agentBinding, agentRules } from '../agent-access/agent-role.ts';
import { LABELS, labelValueOf, MANAGER, objectNames } from '../api/names.ts';
import type { Discovery } from '../discovery/discover-gateways.ts';
import { claimSpec, immutableProblem } from '../storage/claim.ts';
import { type StorageProblem, storageProblem } from '../storage/storage-state.ts';
import type { SyncContext } from './sync-controller.ts';

/** labelsOf returns the labels of the objects of an IgnitionSync. */
export function labelsOf(cr: string): Record<string, string> {
  return { 'app.kubernetes.io/managed-by': MANAGER, [LABELS.crName]: labelValueOf(cr) };
}

/** provideStorage creates the claim that agents share, if one is requested, and returns what is wrong with it. */
export async function provideStorage(
  context: SyncContext,
  { gateways, starting }: Discovery,
): Promise<StorageProblem | undefined> {
  const { object, key, get, apply } = context;
  const { storage } = object.spec;
  // A claim that is no longer requested stays: it may have content that somebody needs.
  if (!storage) return undefined;
  const { namespace = '' } = key;
  const { claim: name } = objectNames(key.name);
  const stored = get(PersistentVolumeClaim, { namespace, name });
  const immutable = stored && immutableProblem(stored, storage);
  if (immutable !== undefined) return { reason: 'ImmutableStorage', message: immutable };
  const metadata = { namespace, name, labels: labelsOf(key.name) };
  try {
    const { object: claim } = await apply(PersistentVolumeClaim, { metadata, spec: claimSpec(storage) });
    const pods = [...gateways, ...starting].map(({ pod }) => pod);
    return storageProblem(claim, storage, pods);
  } catch (error) {
    // The class does not allow a larger size.
    if (!stored || !(isForbidden(error) || isInvalid(error))) throw error;
    const message = `PersistentVolumeClaim ${name} cannot have ${storage.size}: its StorageClass does not allow volume expansion; restore spec.storage.size`;
    return { reason: 'ImmutableStorage', message };
  }
}

/** provideAgentAccess lets the ServiceAccounts of the pods exchange state with the controller, and nothing else. */
export async function provideAgentAccess(context: SyncContext, { serviceAccounts }: Discovery): Promise<void> {
  const { key, apply, event } = context;
  const { namespace = '' } = key;
  const { agent: name } = objectNames(key.name);
  const metadata = { namespace, name, labels: labelsOf(key.name) };
  try {
    await apply(Role, { metadata, rules: agentRules(key.name) });
    await apply(RoleBinding, { metadata, ...agentBinding(key.name, namespace, serviceAccounts) });
  } catch (error) {
    if (isForbidden(error)) {
      event('Warning', 'RBACError', `cannot write Role and RoleBinding ${name}; check the permissions of the operator`);
    }
    throw error;
  }
}

/** provideExchange creates the ConfigMaps that agents write. They are not owned: reports survive until the cleanup. */
export async function provideExchange({ key, createOnce }: SyncContext): Promise<void> {
  const labels = labelsOf(key.name);
  const { status, changes } = objectNames(key.name);
  for (const name of [status, changes]) {
    await createOnce(ConfigMap, { namespace: key.namespace, name }, () => ({ metadata: { labels } }), {
      owner: null,
      labels,
    });
  }
}
