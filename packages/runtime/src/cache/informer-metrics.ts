import type { Metrics } from '../observability/metrics.ts';
import { type InformerHealth, RECONNECT_REASONS } from './health.ts';

const LABELS = ['cache', 'group', 'kind', 'view'] as const;

/**
 * registerInformerMetrics exports the health of a cache's informers, summed by kind and view (never by scope or
 * object). All values are computed from health when the metrics are scraped, so that the hot path only counts plain
 * numbers.
 */
export function registerInformerMetrics(
  metrics: Metrics,
  cache: string,
  health: () => readonly InformerHealth[],
): Disposable {
  const gauge = (name: string, help: string, labels: readonly string[] = LABELS) =>
    metrics.gauge({ name: `bowline_informer_${name}`, help, labels });
  const counter = (name: string, help: string, labels: readonly string[] = LABELS) =>
    metrics.counter({ name: `bowline_informer_${name}`, help, labels });

  const objects = gauge('objects', 'Objects visible to readers.');
  const unconfirmed = gauge('unconfirmed_writes', 'Own writes that no watch has confirmed yet.');
  const synced = gauge('synced', 'Whether every informer of the kind holds a complete state (1) or not (0).');
  const watching = gauge('watching', 'Whether every informer of the kind is watching the server (1) or not (0).');
  const alive = gauge('last_alive_seconds', 'Time since the least recently active open watch was last active.');
  const eventAge = gauge('last_event_seconds', 'Time since the last event.');
  const counters = {
    relists: counter('relists_total', 'Complete lists after the first.'),
    expired: counter('expired_total', 'Responses with 410: the requested history was gone.'),
    rewinds: counter('rewinds_total', 'Times the history of the server went back.'),
    decodeErrors: counter('decode_errors_total', 'Watches ended by a line that could not be decoded.'),
    skippedEvents: counter('skipped_events_total', 'Events skipped because of their type or kind.'),
    projectionErrors: counter('projection_errors_total', 'Objects for which the view function failed.'),
    handlerErrors: counter('handler_errors_total', 'Errors thrown by handlers and index functions.'),
  };
  const reconnects = counter('reconnects_total', 'Watches reopened, by the reason the previous one ended.', [
    ...LABELS,
    'reason',
  ]);
  /** The totals already added to the counters, which can only be incremented. */
  const reported = new Map<string, number>();
  const addDelta = (series: string, total: number, add: (amount: number) => void): void => {
    add(total - (reported.get(series) ?? 0));
    reported.set(series, total);
  };

  return metrics.collect(() => {
    for (const group of groupBy(health())) {
      const [first] = group;
      if (!first) continue;
      const labels = { cache, group: first.group, kind: first.kind, view: first.view };
      const id = `${first.group}/${first.kind}/${first.view}`;
      const sum = (count: (each: InformerHealth) => number): number =>
        group.reduce((total, each) => total + count(each), 0);
      const oldest = (age: (each: InformerHealth) => number | undefined): number =>
        group.reduce((longest, each) => Math.max(longest, age(each) ?? 0), 0) / 1000;
      objects.set(
        sum((each) => each.objects),
        labels,
      );
      unconfirmed.set(
        sum((each) => each.unconfirmedWrites),
        labels,
      );
      synced.set(group.every((each) => each.synced || isExpectedlyMissing(each)) ? 1 : 0, labels);
      watching.set(group.every((each) => each.state === 'watching' || isExpectedlyMissing(each)) ? 1 : 0, labels);
      alive.set(
        oldest((each) => each.aliveAgeMs),
        labels,
      );
      eventAge.set(
        oldest((each) => each.lastEventAgeMs),
        labels,
      );
      for (const [name, metric] of Object.entries(counters) as [keyof typeof counters, typeof counters.relists][]) {
        addDelta(
          `${id}/${name}`,
          sum((each) => each[name]),
          (amount) => metric.add(labels, amount),
        );
      }
      for (const reason of RECONNECT_REASONS) {
        const total = sum((each) => each.reconnects[reason]);
        addDelta(`${id}/reconnects/${reason}`, total, (amount) => reconnects.add({ ...labels, reason }, amount));
      }
    }
  });
}

/** An optional kind that is not served must not raise an alert. */
function isExpectedlyMissing({ optional, served }: InformerHealth): boolean {
  return optional && served === false;
}

function groupBy(health: readonly InformerHealth[]): Iterable<readonly InformerHealth[]> {
  const groups = new Map<string, InformerHealth[]>();
  for (const each of health) {
    const id = `${each.group}/${each.kind}/${each.view}`;
    const group = groups.get(id);
    if (group) group.push(each);
    else groups.set(id, [each]);
  }
  return groups.values();
}
