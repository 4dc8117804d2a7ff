import { expect, test } from 'vitest';
import { sumOf, waitingKeys } from './operator-activity.ts';

const metrics = `# HELP bowline_events_total Events.
bowline_events_total{result="sent"} 7
bowline_events_total{result="failed"} 2
bowline_events_total_other{result="sent"} 100
workqueue_depth{name="pool"} 1
workqueue_depth{name="secret"} 0
workqueue_unfinished_work_seconds{name="secret"} 0.5
`;

test('sums all series of a metric, or those with the given labels', () => {
  expect(sumOf(metrics, 'bowline_events_total')).toBe(9);
  expect(sumOf(metrics, 'bowline_events_total', /result="failed"/)).toBe(2);
  expect(sumOf(metrics, 'unknown_total')).toBe(0);
});

test('counts keys that wait for a worker, or have one', () => {
  expect(waitingKeys(metrics)).toBeGreaterThan(1);
  expect(waitingKeys('workqueue_depth{name="pool"} 0\n')).toBe(0);
});
