import { PersistentVolumeClaim } from '@bowline/kubernetes';
import { isAlreadyExists, isNotFound } from '@bowline/runtime/client';
import type { SpireServer } from '../api/spire-server.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import type { CleanupRun } from '../operand/clean-up.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { SERVER } from '../spire/names.ts';
import { VolumeSnapshot } from '../third-party/volume-snapshot.ts';
import { CLAIM_TEMPLATE } from './server-stateful-set.ts';

/** MAX_SERVERS is how many servers, each with a claim, the schema of the SpireServer allows. */
const MAX_SERVERS = 5;

/** CLAIMS are the names of the claims that servers can have. */
export const CLAIMS: readonly string[] = Array.from({ length: MAX_SERVERS }, (_, index) => claimOf(index));

function claimOf(index: number): string {
  return `${CLAIM_TEMPLATE}-${SERVER}-${index}`;
}

/** wantsBackup reports whether the claims of a server are deleted after snapshots of them are ready. */
export function wantsBackup({ deletion }: SpireServer['spec']): boolean {
  return deletion.persistentVolumeClaims === 'Delete' && deletion.backup === 'VolumeSnapshot';
}

/** backupAvailable returns the condition that claims can be backed up. It is absent if they are not to be. */
export function backupAvailable({ spec }: SpireServer, isServed: boolean): readonly OperandCondition[] {
  if (!wantsBackup(spec)) return [];
  const type = 'BackupAvailable';
  if (isServed) {
    return [{ type, status: true, reason: 'Ready', message: 'snapshots are taken before claims are deleted' }];
  }
  const message =
    'the cluster does not serve VolumeSnapshot of snapshot.storage.k8s.io, so claims stay when the server is deleted; install a storage provider with snapshots';
  return [{ type, status: false, reason: 'NotServed', message }];
}

/**
 * backUpClaims takes a snapshot of every claim of a deleted server, and deletes the claims whose snapshots are ready. It
 * returns what it waits for; undefined if nothing is left to do. Without a snapshot, a claim is never deleted.
 */
export async function backUpClaims(
  run: CleanupRun,
  { spec, metadata }: SpireServer,
  isServed: boolean,
): Promise<{ readonly reason: string; readonly message: string } | undefined> {
  const { live, deps, event } = run;
  if (!isServed) {
    event('Warning', 'BackupNotServed', 'the cluster does not serve VolumeSnapshot, so the claims of the server stay');
    return undefined;
  }
  const { operandNamespace: namespace } = deps.config;
  const waiting: string[] = [];
  for (const claim of CLAIMS.slice(0, spec.replicas)) {
    // The same name in every run of this deletion, and another one for the next server.
    const key = { namespace, name: `${claim}-${metadata?.uid?.slice(0, 8)}` };
    const { status } = (await live.find(VolumeSnapshot, key)) ?? (await takeSnapshot(run, key, claim, spec));
    if (!status?.readyToUse) {
      waiting.push(`VolumeSnapshot ${key.name}${status?.error?.message ? ` (${status.error.message})` : ''}`);
      continue;
    }
    await removeClaim(run, { namespace, name: claim });
  }
  if (waiting.length === 0) return undefined;
  return { reason: 'WaitingForBackup', message: `${waiting.join(', ')} must be ready before its claim is deleted` };
}

async function takeSnapshot(
  { live }: CleanupRun,
  key: { readonly namespace: string; readonly name: string },
  claim: string,
  { deletion: { volumeSnapshotClassName } }: SpireServer['spec'],
): Promise<VolumeSnapshot> {
  const spec = {
    source: { persistentVolumeClaimName: claim },
    ...(volumeSnapshotClassName === undefined ? {} : { volumeSnapshotClassName }),
  };
  try {
    return await live.create(VolumeSnapshot, { metadata: { ...key, labels: MANAGED_BY }, spec });
  } catch (error) {
    if (isAlreadyExists(error)) return live.get(VolumeSnapshot, key);
    throw error;
  }
}

async function removeClaim(
  { live }: CleanupRun,
  key: { readonly namespace: string; readonly name: string },
): Promise<void> {
  try {
    await live.delete(PersistentVolumeClaim, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
