import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { type Clock, formatTime } from '@bowline/machinery';
import type { LiveClient, Log } from '@bowline/runtime';
import type { Target } from '../targets/resolve-targets.ts';
import { type NewCopyOptions, newCopy, type PatchOptions, patchOf } from './copy-bodies.ts';
import type { CopyResult, Deed } from './copy-result.ts';
import type { CopyView } from './copy-view.ts';
import type { Applied, DesiredCopy } from './desired-copy.ts';

/** CopyTools are what all writes of one run share. */
export interface CopyTools {
  readonly client: Pick<LiveClient, 'find' | 'create' | 'patch' | 'delete'>;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly log: Log;
  /** What the cache knows of a copy. */
  readonly find: (key: ObjectKey) => CopyView | undefined;
}

/** createCopy makes a copy, if there is none of that name. */
export async function createCopy(
  { client, fieldManager, clock }: CopyTools,
  target: Target,
  desired: DesiredCopy,
  applied: Applied,
  { deed, kept }: Omit<NewCopyOptions, 'at'> & { readonly deed: Deed },
): Promise<CopyResult> {
  const at = formatTime(clock.now());
  await client.create(ConfigMap, newCopy(target, desired, applied, { at, kept }), { fieldManager });
  return { target, deed, exists: true, hash: applied.hash, syncedAt: at };
}

/** patchCopy changes a copy, if it is still what `view` says. */
export async function patchCopy(
  { client, fieldManager, clock }: CopyTools,
  target: Target,
  view: CopyView,
  desired: DesiredCopy,
  applied: Applied,
  { deed, ...options }: Omit<PatchOptions, 'at'> & { readonly deed: Deed },
): Promise<CopyResult> {
  const { namespace, name } = target;
  const at = formatTime(clock.now());
  const body = patchOf(view, desired, applied, { ...options, at });
  await client.patch(ConfigMap, { namespace, name }, { type: 'strategic', body }, { fieldManager });
  const syncedAt = options.withContent ? at : (view.marks.syncedAt ?? at);
  return { target, deed, exists: true, hash: applied.hash, syncedAt };
}

/** untouched is the result of a copy that was left as it is. */
export function untouched(target: Target, view: CopyView): CopyResult {
  const { appliedHash: hash, syncedAt } = view.marks;
  return { target, deed: 'nothing', exists: true, hash, syncedAt };
}
