import { ContentProblem } from '../content/content-problem.ts';
import { type CopyResult, stopped } from '../copies/copy-result.ts';
import { type DesiredCopy, desiredCopy } from '../copies/desired-copy.ts';
import { writeCopies } from '../copies/write-copies.ts';
import { copiedMetadata } from '../metadata/copied-metadata.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { desiredContent } from '../transforms/desired-content.ts';
import { copyLimits, copyRules, copyTools } from './copy-work.ts';
import type { Source } from './source.ts';
import type { SyncContext } from './watching.ts';

/** syncOneWay makes every copy what the source and the spec say, and answers what became of each. */
export async function syncOneWay(
  context: SyncContext,
  source: Source,
  targets: readonly Target[],
): Promise<readonly CopyResult[]> {
  try {
    const wish = { desired: desiredOf(context, source), rules: copyRules(context) };
    return await writeCopies(copyTools(context), targets, wish, copyLimits(context));
  } catch (error) {
    if (error instanceof ContentProblem) return targets.map((target) => refused(context, target, error));
    throw error;
  }
}

function desiredOf({ object }: SyncContext, source: Source): DesiredCopy {
  const { spec } = object;
  const content = desiredContent(source.content, spec);
  const desired = desiredCopy(object, source, content, copiedMetadata(source.metadata, spec.metadata));
  if (spec.conflictPolicy === 'Merge' && desired.managedKeys === undefined) {
    throw new ContentProblem(
      'TooLarge',
      'spec.conflictPolicy',
      'the source has too many keys to remember which of them are ours; copy fewer, or use another policy',
    );
  }
  return desired;
}

/** Copies stay as they are while no content can be made for them. */
function refused({ get }: SyncContext, target: Target, { reason, field, message }: ContentProblem): CopyResult {
  return stopped(target, { state: 'Failed', reason, message: `${field}: ${message}` }, get('copies', target));
}
