import type { Event as CoreEvent, KubernetesObject } from '@bowline/kubernetes';
import { age } from '../../age.ts';
import type { TableColumn } from '../../api-resource.ts';
import { column, wide } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { asOlder } from './event-shapes.ts';

type Times = Record<'firstTimestamp' | 'lastTimestamp' | 'eventTime', string | null | undefined>;

/**
 * eventColumns displays what happened last, and to which object. The name of an event carries no information, and comes
 * last.
 */
export const eventColumns: readonly TableColumn[] = [
  column('Last Seen', 'Time of the last occurrence.', (object, now) => lastSeen(object, now)),
  column('Type', 'Normal or Warning.', (object) => read(object).type ?? ''),
  column('Reason', 'Reason of the event in one word.', (object) => read(object).reason ?? ''),
  column('Object', 'Object that the event is about.', (object) => {
    const { kind = '', name } = read(object).involvedObject ?? {};
    return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
  }),
  wide(
    'Subobject',
    'Part of the object that the event is about.',
    (object) => read(object).involvedObject?.fieldPath ?? '',
  ),
  wide('Source', 'Component that reported the event.', (object) => {
    const { source = {}, reportingComponent, reportingInstance } = read(object);
    const who = source.component || reportingComponent || '';
    const where = source.host || reportingInstance || '';
    return where === '' ? who : `${who}, ${where}`;
  }),
  column('Message', 'Description of the event.', (object) => (read(object).message ?? '').trim()),
  wide('First Seen', 'Time of the first occurrence.', (object, now) => firstSeen(object, now)),
  wide('Count', 'Number of occurrences.', (object) => {
    const { series, count } = read(object);
    return series?.count ?? (count || 1);
  }),
  column('Name', 'Name must be unique within a namespace.', ({ metadata }) => metadata?.name ?? '', {
    format: 'name',
    priority: 1,
  }),
];

function read(object: KubernetesObject): Omit<PartialObject<CoreEvent>, keyof Times> & Times {
  // Only the field names differ between the shapes.
  return asOlder(object) as Omit<PartialObject<CoreEvent>, keyof Times> & Times;
}

function firstSeen(object: KubernetesObject, now: number): string {
  const { firstTimestamp, eventTime } = read(object);
  return age(firstTimestamp ?? eventTime ?? undefined, now);
}

function lastSeen(object: KubernetesObject, now: number): string {
  const { series, lastTimestamp } = read(object);
  const last = series?.lastObservedTime ?? lastTimestamp;
  return last ? age(last, now) : firstSeen(object, now);
}
