import type { Event as CoreEvent } from '@bowline/kubernetes';
import { invalid as invalidStatus } from '../../../status/api-status.ts';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import type { Loose } from '../shared/loose.ts';
import { dropEmpty, dropZero } from '../shared/zero-values.ts';
import { eventColumns } from './event-columns.ts';
import { eventProblems, youngerEventProblems } from './event-problems.ts';
import { asOlder, olderView, youngerView } from './event-shapes.ts';

type Older = Loose<CoreEvent>;

/** eventRules are those of the core group: events of both groups are one store. */
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

/** youngerEventRules are those of events.k8s.io, which ask for more. */
export const youngerEventRules: KindRules = {
  viewOf: youngerView,
  applyDefaults(object) {
    object.regarding ??= {};
    object.deprecatedSource ??= {};
    for (const field of ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'eventTime']) object[field] ??= null;
    dropZero(object as { deprecatedCount?: number }, 'deprecatedCount');
    dropEmpty(object as Record<string, string>, 'reportingController', 'reportingInstance');
  },
  validate(object, old) {
    const problems = youngerEventProblems(older(object), old && older(old));
    // The API server judges them as what they are stored as.
    if (problems.length > 0) throw invalidStatus({ group: '', kind: 'Event' }, object.metadata.name ?? '', problems);
    return [];
  },
  columns: eventColumns,
};

function older(object: Draft): Older {
  // Only names differ between the shapes.
  return asOlder(object);
}
