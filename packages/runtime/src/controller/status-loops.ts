import type { KubernetesObject } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { BoundedMap } from '@bowline/machinery';
import type { QueueItem } from '../queue/queue-options.ts';

/**
 * A reconcile may pass through a few states by its own status; more of them in a row, with nothing else happening, are
 * a loop.
 */
const MAX_CHANGES_IN_A_ROW = 10;

/** The pause before the next run of a loop: doubled each time, and short enough to notice when the loop ends. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;

/** Above this many objects, some are forgotten: their loops are detected later. */
const MAX_REMEMBERED = 10_000;

interface ChangeSequence {
  /** The version of the object after the last status patch. */
  readonly resourceVersion: string | undefined;
  /** How many runs in a row changed the status although only the previous patch had changed the object. */
  readonly changes: number;
  /** Monotonic time. */
  readonly notBefore: number;
  /** The fields that were changed when the loop was detected: the same in every message about it. */
  readonly fields: readonly string[];
}

/**
 * StatusLoops detects reconciles that write a different status in every run, for example a time or a random id: each
 * patch causes the next run, at full speed. It delays the runs that such a patch causes; any other event still runs
 * immediately.
 */
export class StatusLoops {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #sequences = new BoundedMap<string, ChangeSequence>({ maxEntries: MAX_REMEMBERED });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** pauseBefore returns how long a run has to wait, in milliseconds: 0 unless it is the next iteration of a loop. */
  pauseBefore(item: QueueItem, object: unknown): number {
    const sequence = this.#sequences.get(item.key);
    if (sequence === undefined || sequence.changes < MAX_CHANGES_IN_A_ROW || !isEcho(sequence, item, object)) return 0;
    return Math.max(0, sequence.notBefore - this.#clock.monotonic());
  }

  /**
   * recordChange records that a run patched fields of the status. It returns the loop that its object is in, if any.
   */
  recordChange(
    item: QueueItem,
    object: unknown,
    patched: KubernetesObject,
    fields: readonly string[],
  ): { readonly isNew: boolean; readonly fields: readonly string[] } | undefined {
    const sequence = this.#sequences.get(item.key);
    const before = sequence?.changes ?? 0;
    const wasLoop = before >= MAX_CHANGES_IN_A_ROW;
    const changes = sequence && isEcho(sequence, item, object) ? before + 1 : wasLoop ? before : 0;
    const isLoop = changes >= MAX_CHANGES_IN_A_ROW;
    const pauseMs = isLoop ? Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (changes - MAX_CHANGES_IN_A_ROW)) : 0;
    const next: ChangeSequence = {
      resourceVersion: patched.metadata?.resourceVersion,
      changes,
      notBefore: this.#clock.monotonic() + pauseMs,
      fields: sequence && wasLoop ? sequence.fields : fields,
    };
    this.#sequences.set(item.key, next);
    return isLoop ? { isNew: !wasLoop, fields: next.fields } : undefined;
  }

  /**
   * recordUnchanged records that a run found the status as desired, or its object gone. It returns whether that ended a
   * loop.
   */
  recordUnchanged(key: string): boolean {
    const sequence = this.#sequences.get(key);
    if (sequence === undefined) return false;
    this.#sequences.delete(key);
    return sequence.changes >= MAX_CHANGES_IN_A_ROW;
  }
}

/**
 * Reports whether only our own patch caused a run: the object has not changed since, and nothing but its event caused
 * the run.
 */
function isEcho({ resourceVersion }: ChangeSequence, { causes }: QueueItem, object: unknown): boolean {
  if ((object as Partial<KubernetesObject>).metadata?.resourceVersion !== resourceVersion) return false;
  return resourceVersion !== undefined && causes.every(({ by }) => by === 'watch');
}
