import { type Case, get, MERGE, METADATA, patch, post, remove, TABLE, watch } from '../step.ts';

const MAPS = '/api/v1/namespaces/NS/configmaps';
const WIDGETS = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets';
const widget = { apiVersion: 'proof.bowline.dev/v1', kind: 'Widget', metadata: { name: 'a', labels: { a: '1' } } };

/** Everything that happens to one object, watched from the version before it. */
function changeSteps(collection: string, object: object): Case['steps'] {
  const since = 'watch=true&resourceVersion={{0.metadata.resourceVersion}}';
  return [
    get(`${collection}?limit=1&fieldSelector=metadata.name%3Dnone`),
    post(collection, object),
    patch(`${collection}/a`, { metadata: { labels: { a: '2' } } }, MERGE),
    patch(`${collection}/a`, { metadata: { labels: { a: null, b: '3' } } }, MERGE),
    remove(`${collection}/a`),
    watch(`${collection}?${since}`, 4),
    watch(`${collection}?${since}&labelSelector=a`, 3),
    watch(`${collection}?${since}&labelSelector=b%3D3`, 2),
    watch(`${collection}?${since}&fieldSelector=metadata.name%3Da`, 4),
    watch(`${collection}?${since}`, 4, TABLE),
    watch(`${collection}?${since}`, 4, METADATA),
    watch(`${collection}?${since}&allowWatchBookmarks=true&timeoutSeconds=1`, 5),
    watch(`${collection}?${since}&labelSelector=none&timeoutSeconds=1`, 1),
  ];
}

const OPTIONS = [
  'resourceVersion=abc',
  'resourceVersion=-1',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'sendInitialEvents=true',
  'sendInitialEvents=false',
  'sendInitialEvents=true&resourceVersionMatch=Exact',
  'sendInitialEvents=x&resourceVersionMatch=NotOlderThan',
  'labelSelector=a%3D%3D%3D',
  'fieldSelector=nope%3D1',
  'continue=abc',
  'limit=x',
  'timeoutSeconds=x',
];

/** watches covers streams of changes. */
export const watches: readonly Case[] = [
  {
    name: 'a watch of several changes',
    steps: changeSteps(MAPS, { metadata: { name: 'a', labels: { a: '1' } }, data: { x: 'y' } }),
  },
  { name: 'a watch of several changes of a custom resource', steps: changeSteps(WIDGETS, widget) },
  {
    name: 'a watch of existing objects',
    steps: [
      post(WIDGETS, widget),
      watch(`${WIDGETS}?watch=1`, 1),
      watch(`${WIDGETS}?watch=1&resourceVersion=0`, 1),
      watch(`${WIDGETS}?watch=1`, 1, TABLE),
      watch(`${WIDGETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, 2),
      watch(
        `${WIDGETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        2,
        METADATA,
      ),
      watch(
        `${WIDGETS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        2,
        TABLE,
      ),
      watch('/apis/proof.bowline.dev/v1/watch/namespaces/NS/widgets', 1),
      watch('/apis/proof.bowline.dev/v1/watch/namespaces/NS/widgets/a', 1),
      watch(`${WIDGETS}/a?watch=true`, 1),
    ],
  },
  { name: 'options of watches', steps: OPTIONS.map((options) => watch(`${MAPS}?watch=true&${options}`, 1)) },
];
