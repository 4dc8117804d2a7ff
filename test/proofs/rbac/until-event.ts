import { Event } from '@bowline/kubernetes/events-v1';
import type { Stage } from './scenario.ts';

/** untilEvent waits until the same event was sent this often: once, and then counted up. */
export async function untilEvent(stage: Stage, reason: string, times: number): Promise<void> {
  await stage.untilList(Event, {}, (events) =>
    events.some((each) => each.reason === reason && (each.series?.count ?? 1) === times),
  );
}
