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

interface Row {
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
  readonly #rows = new BoundedMap<string, Row>({ maxEntries: MAX_REMEMBERED });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** pauseBefore returns how long a run has to wait, in milliseconds: 0 unless it is the next iteration of a loop. */
  pauseBefore(item: QueueItem, object: unknown): number {
    const row = this.#rows.get(item.key);
    if (row === undefined || row.changes < MAX_CHANGES_IN_A_ROW || !isEcho(row, item, object)) return 0;
    return Math.max(0, row.notBefore - this.#clock.monotonic());
  }

  /** changed records that a run patched fields of the status. It returns the loop that its object is in, if any. */
  changed(
    item: QueueItem,
    object: unknown,
    patched: KubernetesObject,
    fields: readonly string[],
  ): { readonly isNew: boolean; readonly fields: readonly string[] } | undefined {
    const row = this.#rows.get(item.key);
    const before = row?.changes ?? 0;
    const wasLoop = before >= MAX_CHANGES_IN_A_ROW;
    const changes = row && isEcho(row, item, object) ? before + 1 : wasLoop ? before : 0;
    const isLoop = changes >= MAX_CHANGES_IN_A_ROW;
    const pauseMs = isLoop ? Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (changes - MAX_CHANGES_IN_A_ROW)) : 0;
    const next: Row = {
      resourceVersion: patched.metadata?.resourceVersion,
      changes,
      notBefore: this.#clock.monotonic() + pauseMs,
      fields: row && wasLoop ? row.fields : fields,
    };
    this.#rows.set(item.key, next);
    return isLoop ? { isNew: !wasLoop, fields: next.fields } : undefined;
  }

  /**
   * unchanged records that a run found the status as desired, or its object gone. It returns whether that ended a loop.
   */
  unchanged(key: string): boolean {
    const row = this.#rows.get(key);
    if (row === undefined) return false;
    this.#rows.delete(key);
    return row.changes >= MAX_CHANGES_IN_A_ROW;
  }
}

/**
 * Reports whether only our own patch caused a run: the object has not changed since, and nothing but its event caused
 * the run.
 */
function isEcho({ resourceVersion }: Row, { causes }: QueueItem, object: unknown): boolean {
  if ((object as Partial<KubernetesObject>).metadata?.resourceVersion !== resourceVersion) return false;
  return resourceVersion !== undefined && causes.every(({ by }) => by === 'watch');
}
