import { keyString } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { isNamespaceTerminating } from '@bowline/runtime/client';
import { ContentProblem } from '../content/content-problem.ts';
import { copies, type DesiredCopy } from '../copies/copies.ts';
import { type CopyResult, failed, problemOf, resultOf, untouched } from '../copies/copy-result.ts';
import { desiredCopy } from '../copies/desired-copy.ts';
import { copiedMetadata } from '../metadata/copied-metadata.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { desiredContent } from '../transforms/desired-content.ts';
import { copyPolicy } from './copy-policy.ts';
import type { Source } from './source.ts';
import type { SyncContext } from './sync-controller.ts';

/** syncOneWay brings every copy to the state that the source and the spec define, and returns the result of each. */
export async function syncOneWay(
  context: SyncContext,
  source: Source,
  targets: readonly Target[],
): Promise<readonly CopyResult[]> {
  try {
    return await writeCopies(context, targets, desiredOf(context, source));
  } catch (error) {
    if (!(error instanceof ContentProblem)) throw error;
    // Copies stay unchanged while no content can be computed for them.
    const { reason, field, message } = error;
    const obstacle = { state: 'Failed', reason, message: `${field}: ${message}` } as const;
    return targets.map((target) => untouched(target, context.get('copies', target), obstacle));
  }
}

/**
 * writeCopies brings every copy to its desired state, and returns the result of each, in order. A failed copy does not
 * block the others.
 */
async function writeCopies(
  context: SyncContext,
  targets: readonly Target[],
  desired: DesiredCopy,
): Promise<readonly CopyResult[]> {
  const { ensure, get, deps, log, signal } = context;
  const policy = copyPolicy(context);
  const results = new Map<Target, CopyResult>();
  const sync = async (target: Target): Promise<void> => {
    const obstacle = problemOf(target);
    if (obstacle) results.set(target, untouched(target, get('copies', target), obstacle));
    else results.set(target, resultOf(target, await ensure(copies, target, desired, policy)));
  };
  const failures = await forEachConcurrently(targets, deps.config.maxWritesInFlight, sync, { signal });
  // The copies are not at fault: nothing is reported about them.
  signal.throwIfAborted();
  for (const { item, error } of failures) {
    // The cache does not show yet that the namespace is being deleted; once it does, the namespace is no longer
    // selected.
    if (item.selected && isNamespaceTerminating(error)) continue;
    log.warn('failed to write a copy', { copy: keyString(item), error });
    results.set(item, failed(item, error, get('copies', item)));
  }
  return targets.flatMap((target) => results.get(target) ?? []);
}

function desiredOf({ object }: SyncContext, source: Source): DesiredCopy {
  const { spec } = object;
  const content = desiredContent(source.content, spec);
  const desired = desiredCopy(object, source, content, copiedMetadata(source.metadata, spec.metadata));
  if (spec.conflictPolicy === 'Merge' && desired.keyList === undefined) {
    throw new ContentProblem(
      'TooLarge',
      'spec.conflictPolicy',
      'the source has too many keys to record which of them are managed; copy fewer keys, or use another policy',
    );
  }
  return desired;
}
