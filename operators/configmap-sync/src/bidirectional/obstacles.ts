import { contentSize, MAX_CONTENT_BYTES } from '../content/content-size.ts';
import type { Obstacle } from '../copies/copy-result.ts';
import type { ThreeWayResult } from './three-way.ts';

/** tooManyKeys is the obstacle of a source with more keys than a copy can record. */
export const tooManyKeys: Obstacle = {
  state: 'Failed',
  reason: 'TooLarge',
  message:
    'too many keys to record the state that both sides agree on; split the ConfigMap, or set spec.direction to OneWay',
};

/** mergeObstacle returns why the sides cannot get their desired content, or undefined if there is no obstacle. */
export function mergeObstacle(
  { source, destination, writeSource }: ThreeWayResult,
  isSourceImmutable: boolean,
): Obstacle | undefined {
  if (writeSource && isSourceImmutable) {
    return failed(
      'SourceImmutable',
      'the copy was edited, but the source is immutable; revert the edit, or recreate the source as a mutable ConfigMap',
    );
  }
  const size = Math.max(contentSize(source), contentSize(destination));
  if (size <= MAX_CONTENT_BYTES) return undefined;
  return failed(
    'TooLarge',
    `the merged content has ${size} bytes, but a ConfigMap holds at most ${MAX_CONTENT_BYTES}; remove keys on one side`,
  );
}

/** The maximum number of keys in a message. */
const MAX_NAMED = 10;

/** conflictOf returns the conflict that is left for a user to decide. */
export function conflictOf({ conflicts }: Pick<ThreeWayResult, 'conflicts'>): Obstacle | undefined {
  if (conflicts.length === 0) return undefined;
  const named = conflicts.slice(0, MAX_NAMED).join(', ');
  const keys = conflicts.length > MAX_NAMED ? `${named} and ${conflicts.length - MAX_NAMED} more` : named;
  return {
    state: 'Conflict',
    reason: 'KeyConflict',
    message: `both sides changed these keys: ${keys}; set the annotation sync.bowline.dev/resolve on the ConfigMapSync to Source or Destination, or set both sides to the same value`,
  };
}

function failed(reason: string, message: string): Obstacle {
  return { state: 'Failed', reason, message };
}
