import { SAMPLES, type Sample } from '../../../support/sample-objects.ts';
import {
  type Case,
  get,
  JSON_PATCH,
  MERGE,
  METADATA,
  METADATA_LIST,
  patch,
  post,
  put,
  remove,
  TABLE,
} from '../step.ts';

/** kindLifecycles takes an object of each kind through every verb. */
export const kindLifecycles: readonly Case[] = SAMPLES.flatMap((sample) => [lifecycle(sample), rejections(sample)]);

function lifecycle(sample: Sample): Case {
  const { kind, object, subresources } = sample;
  const { collection, name } = placeOf(sample);
  const path = `${collection}/${name}`;
  const named = { ...object, metadata: { ...object.metadata, name } };
  return {
    name: `lifecycle of a ${kind}`,
    steps: [
      post(`${collection}?dryRun=All`, named),
      post(collection, named),
      post(collection, named),
      get(path),
      get(path, TABLE),
      get(path, METADATA),
      get(`${collection}?fieldSelector=metadata.name=${name}`),
      get(`${collection}?fieldSelector=metadata.name=${name}`, TABLE),
      get(`${collection}?fieldSelector=metadata.name=${name}`, METADATA_LIST),
      ...subresources.map((part) => get(`${path}/${part}`)),
      patch(path, { metadata: { labels: { added: 'one' } } }, MERGE),
      patch(path, [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }], JSON_PATCH),
      patch(`${path}?dryRun=All`, { metadata: { labels: { added: null } } }, MERGE),
      put(path, { ...named, metadata: { ...named.metadata, resourceVersion: '1' } }),
      put(path, named),
      ...subresources
        .filter((part) => part === 'status')
        .map((part) => patch(`${path}/${part}`, { metadata: { labels: { ignored: 'yes' } } }, MERGE)),
      remove(`${path}?gracePeriodSeconds=0`),
      get(path),
      remove(path),
    ],
  };
}

function rejections(sample: Sample): Case {
  const { kind, object } = sample;
  const { collection, name } = placeOf(sample);
  const metadata = { ...object.metadata, name };
  return {
    name: `invalid values of a ${kind}`,
    steps: [
      post(collection, { ...object, metadata: { ...metadata, name: undefined } }),
      post(collection, { ...object, metadata: { ...metadata, name: `${name}-Not_A-Name` } }),
      post(collection, { ...object, metadata: { ...metadata, labels: { 'not a label': 'x'.repeat(64), ok: '-' } } }),
      post(collection, { ...object, metadata: { ...metadata, annotations: { 'a/b/c': 'd' } } }),
      post(collection, { ...object, metadata: { ...metadata, namespace: 'elsewhere' } }),
      post(collection, { ...object, metadata: { ...metadata, resourceVersion: '5' } }),
      post(collection, { ...object, metadata: { ...metadata, finalizers: ['nope', 'a/b/c'] } }),
      post(collection, { ...object, metadata: { ...metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'X' }] } }),
      post(`${collection}?dryRun=All`, { ...object, unknown: { a: 1 }, metadata: { ...metadata, unknown: 1 } }),
      post(`${collection}?fieldValidation=Strict`, {
        ...object,
        unknown: { a: 1 },
        metadata: { ...metadata, other: 1 },
      }),
      post(`${collection}?dryRun=All&fieldValidation=Ignore`, { ...object, unknown: 1, metadata }),
      put(`${collection}/other`, { ...object, metadata }),
      put(`${collection}/${name}`, { ...object, metadata }),
      put(`${collection}/${name}`, {
        ...object,
        metadata: { ...metadata, uid: '00000000-0000-4000-8000-000000000000' },
      }),
      patch(`${collection}/${name}`, {}, MERGE),
    ],
  };
}

/** Cluster-scoped objects are named after the case. */
function placeOf({ path }: Sample): { readonly collection: string; readonly name: string } {
  return { collection: path, name: path.includes('/NS/') ? 'sample' : 'OWN-sample' };
}
