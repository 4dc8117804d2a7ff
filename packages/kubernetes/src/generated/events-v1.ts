// Generated from openapi/events-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { EventSource, ObjectReference } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Event {
  readonly action?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly deprecatedCount?: number | undefined;
  readonly deprecatedFirstTimestamp?: string | undefined;
  readonly deprecatedLastTimestamp?: string | undefined;
  readonly deprecatedSource?: EventSource | undefined;
  readonly eventTime: string;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly note?: string | undefined;
  readonly reason?: string | undefined;
  readonly regarding?: ObjectReference | undefined;
  readonly related?: ObjectReference | undefined;
  readonly reportingController?: string | undefined;
  readonly reportingInstance?: string | undefined;
  readonly series?: EventSeries | undefined;
  readonly type?: string | undefined;
}

export const Event: Resource<Event, 'Event.v1.events.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' });

export interface EventList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Event[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}
