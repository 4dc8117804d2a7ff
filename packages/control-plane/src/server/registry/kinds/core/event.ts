import type { Event as CoreEvent } from '@bowline/kubernetes';
import { invalid as invalidStatus } from '../../../status/api-status.ts';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { dropEmpty, dropZero } from '../shared/zero-values.ts';
import { eventColumns } from './event-columns.ts';
import { eventProblems, newerEventProblems } from './event-problems.ts';
import { asOlder, newerView, olderView } from './event-shapes.ts';

type Older = PartialObject<CoreEvent>;

/** eventRules holds the rules of Events of the core group. Events of both groups share one store. */
export const eventRules: KindRules = {
  viewOf: olderView,
  applyDefaults(object) {
    object.involvedObject ??= {};
    object.source ??= {};
    for (const field of ['firstTimestamp', 'lastTimestamp', 'eventTime']) object[field] ??= null;
    dropZero(object as { count?: number }, 'count');
  },
  validate: (object) => eventProblems(older(object), 'reportingComponent'),
  columns: eventColumns,
};

/** newerEventRules holds the rules of Events of events.k8s.io, which are stricter. */
export const newerEventRules: KindRules = {
  viewOf: newerView,
  applyDefaults(object) {
    object.regarding ??= {};
    object.deprecatedSource ??= {};
    for (const field of ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'eventTime']) object[field] ??= null;
    dropZero(object as { deprecatedCount?: number }, 'deprecatedCount');
    dropEmpty(object as Record<string, string>, 'reportingController', 'reportingInstance');
  },
  validate(object, old) {
    const problems = newerEventProblems(older(object), old && older(old));
    // The API server reports problems in the kind that it stores.
    if (problems.length > 0) throw invalidStatus({ group: '', kind: 'Event' }, object.metadata.name ?? '', problems);
    return [];
  },
  columns: eventColumns,
};

function older(object: Draft): Older {
  // Only the field names differ between the shapes.
  return asOlder(object);
}
