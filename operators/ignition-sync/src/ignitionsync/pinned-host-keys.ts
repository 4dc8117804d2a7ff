import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { IgnitionSyncStatus } from '../api/ignition-sync.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { fingerprints, pinnedLines } from '../source/host-keys.ts';
import { type GitSource, isPinning } from '../source/source-identity.ts';
import type { SyncContext } from './sync-controller.ts';

/** restorePins sets the host keys that an earlier process pinned. */
export function restorePins(context: SyncContext, source: GitSource, stored: SyncMetadata | undefined): void {
  if (!isPinning(source.git)) return;
  const lines = pinnedLines(stored?.knownHosts, source.pinned);
  if (lines) context.deps.sources.pin(source, lines);
}

/** pinnedFields returns the field of the status with the fingerprints of pinned keys. */
export function pinnedFields({ deps, object }: SyncContext, source: GitSource): Partial<IgnitionSyncStatus> {
  if (!isPinning(source.git)) return { pinnedHostKeys: undefined };
  const lines = deps.sources.pinsOf(source);
  return { pinnedHostKeys: lines.length > 0 ? fingerprints(lines) : object.status?.pinnedHostKeys };
}

/** hostKeyCondition returns the condition SSHHostKeyVerification, which exists only for SSH. */
export function hostKeyCondition({ object }: SyncContext): ConditionUpdate {
  const { auth } = object.spec.git;
  const type = 'SSHHostKeyVerification';
  if (!auth?.sshKey) return { type, status: undefined, reason: '', message: '' };
  if (auth.sshKey.knownHosts) {
    return { type, status: true, reason: 'KnownHosts', message: 'host keys are compared with those of the Secret' };
  }
  return {
    type,
    status: false,
    reason: 'TrustedOnFirstUse',
    message: 'the first host key that was seen is trusted; set spec.git.auth.sshKey.knownHosts',
  };
}
