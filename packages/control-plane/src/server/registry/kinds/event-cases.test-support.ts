import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const OLD = '/api/v1/namespaces/NS/events';
const NEW = '/apis/events.k8s.io/v1/namespaces/NS/events';

const old = (object: object): Step => ['POST', `${OLD}${DRY}`, { metadata: { name: 'e' }, ...object }];
const young = (object: object): Step => ['POST', `${NEW}${DRY}`, { metadata: { name: 'e' }, ...object }];
const ABOUT = { kind: 'Pod', name: 'p', namespace: 'NS', uid: 'u' };
const GOOD_OLD = {
  involvedObject: { ...ABOUT, fieldPath: 'spec.containers{a}' },
  reason: 'Why',
  message: 'What',
  type: 'Normal',
  source: { component: 'me', host: 'here' },
  firstTimestamp: '2020-01-01T00:00:00Z',
  lastTimestamp: '2020-01-01T00:00:01Z',
  count: 2,
};
const GOOD_NEW = {
  regarding: ABOUT,
  eventTime: '2020-01-01T00:00:00.000000Z',
  reportingController: 'a.b/c',
  reportingInstance: 'x',
  action: 'Do',
  reason: 'Why',
  note: 'What',
  type: 'Normal',
};

/** CASES covers Events, which are one store with two shapes. */
export const CASES: readonly Case[] = [
  [
    'events of the older group',
    old(GOOD_OLD),
    old({}),
    old({ involvedObject: { kind: 'Node', name: 'n' } }),
    old({ involvedObject: { ...ABOUT, namespace: 'other' } }),
    old({ ...GOOD_OLD, eventTime: '2020-01-01T00:00:00.000000Z' }),
    old({
      ...GOOD_OLD,
      eventTime: '2020-01-01T00:00:00.000000Z',
      reportingComponent: 'a.b/c',
      reportingInstance: 'x',
      action: 'y',
    }),
    old({ ...GOOD_OLD, type: 'Nope' }),
  ],
  [
    'events of the newer group',
    young(GOOD_NEW),
    young({}),
    young({ regarding: ABOUT }),
    young({
      ...GOOD_NEW,
      reportingController: 'A_B!',
      reportingInstance: 'x'.repeat(129),
      action: 'y'.repeat(129),
      reason: '',
      type: 'Nope',
      note: 'n'.repeat(1025),
    }),
    young({ ...GOOD_NEW, deprecatedCount: 5 }),
    young({ ...GOOD_NEW, deprecatedSource: { component: 'x' }, deprecatedFirstTimestamp: '2020-01-01T00:00:00Z' }),
    young({ ...GOOD_NEW, series: { count: 1, lastObservedTime: '2020-01-01T00:00:00.000000Z' } }),
    young({ ...GOOD_NEW, series: { count: 2, lastObservedTime: '2020-01-01T00:00:00.000000Z' } }),
    young({ ...GOOD_NEW, regarding: { ...ABOUT, namespace: 'other' } }),
  ],
  [
    'events in both shapes',
    ['POST', OLD, { metadata: { name: 'o' }, ...GOOD_OLD }],
    ['GET', `${NEW}/o`],
    ['POST', NEW, { metadata: { name: 'y' }, ...GOOD_NEW, related: { kind: 'Node', name: 'n' } }],
    ['GET', `${OLD}/y`],
    ['PATCH', `${OLD}/o`, { count: 3, lastTimestamp: '2020-01-01T00:01:00Z' }, MERGE],
    ['PATCH', `${NEW}/y`, { series: { count: 2, lastObservedTime: '2020-01-01T00:01:00.000000Z' } }, MERGE],
    ['PATCH', `${NEW}/y`, { note: 'Other' }, MERGE],
    ['GET', `${OLD}/y`],
    ['GET', `${OLD}?fieldSelector=involvedObject.kind=Pod,reason=Why`],
    ['GET', `${NEW}?fieldSelector=regarding.kind=Pod,type=Normal`],
    ['GET', `${NEW}?fieldSelector=reportingController=a.b/c`],
    ['GET', `${OLD}?fieldSelector=source=me`],
    ['GET', `${OLD}?fieldSelector=reportingComponent=a.b/c`],
    ['GET', `${OLD}?fieldSelector=nope=me`],
    table(`${OLD}?fieldSelector=type=Normal`),
    table(`${NEW}?fieldSelector=type=Normal`),
    ['DELETE', `${NEW}/o`],
  ],
];
