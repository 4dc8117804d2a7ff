import { integerBelow, pick, type Random } from '@bowline/machinery';
import { SAMPLES, type Sample } from '../../support/sample-objects.ts';
import {
  APPLY,
  type Case,
  get,
  JSON_PATCH,
  MERGE,
  METADATA_LIST,
  patch,
  post,
  put,
  remove,
  STRATEGIC,
  type Step,
  TABLE,
  watch,
} from './step.ts';
import { variation } from './variation.ts';

/** The kinds that are generated most. */
const KINDS = ['ConfigMap', 'Secret', 'Service', 'Deployment', 'Pod', 'Role', 'Widget'];
const STEPS = 8;

const chance = (random: Random, share: number): boolean => random.next() < share;

/** generatedCase returns a generated sequence of requests for one object. */
export function generatedCase(random: Random, seed: number): Case {
  const kind = pick(random, KINDS);
  const sample = SAMPLES.find((each) => each.kind === kind);
  if (!sample) throw new Error(`there is no sample of ${kind}`);
  const name = `g${seed}`;
  const object = { ...sample.object, metadata: { ...sample.object.metadata, name } };
  const first = post(sample.path + options(random), chance(random, 0.7) ? object : variation(random, object));
  const rest = Array.from({ length: STEPS }, () => step(random, sample, object, `${sample.path}/${name}`));
  return { name: `generated ${seed} (${kind})`, steps: [first, ...rest] };
}

function step(random: Random, sample: Sample, object: Sample['object'], path: string): Step {
  const part = sample.subresources.length > 0 && chance(random, 0.1) ? `/${pick(random, sample.subresources)}` : '';
  const make = pick(random, [
    () => put(path + part + options(random), variation(random, object)),
    () => patch(path + part + options(random), fragment(random, object), MERGE),
    () => patch(path + options(random), operations(random, object), JSON_PATCH),
    () => patch(path + options(random), fragment(random, object), STRATEGIC),
    () => applied(random, object, path + part),
    () => applied(random, object, path),
    () => get(path + part, chance(random, 0.2) ? TABLE : {}),
    () => get(`${sample.path}?${selection(random, path)}`, pick(random, [{}, TABLE, METADATA_LIST])),
    () => post(sample.path + options(random), variation(random, object)),
    () =>
      chance(random, 0.3)
        ? remove(path, deletion(random))
        : watch(`${sample.path}?watch=1&${selection(random, path)}&timeoutSeconds=1`, 1),
  ]);
  return make();
}

function options(random: Random): string {
  if (chance(random, 0.6)) return '';
  return `?${pick(random, ['dryRun=All', 'fieldValidation=Strict', 'fieldValidation=Ignore', 'fieldManager=other', 'dryRun=All&fieldValidation=Strict'])}`;
}

function selection(random: Random, path: string): string {
  // Other cases share the namespace: only the object of this one is read.
  const own = `fieldSelector=metadata.name%3D${path.slice(path.lastIndexOf('/') + 1)}`;
  const more = pick(random, [
    '',
    'limit=1',
    'limit=5',
    'labelSelector=app%3Dsample',
    'labelSelector=app!%3Dsample',
    'labelSelector=app%20in%20(a,sample)',
    'labelSelector=!app',
  ]);
  return more === '' ? own : `${own}&${more}`;
}

function deletion(random: Random): object {
  return pick(random, [
    {},
    { gracePeriodSeconds: 0 },
    { propagationPolicy: 'Background' },
    { dryRun: ['All'] },
    { preconditions: { uid: 'other' } },
  ]);
}

/** A changed part of the object; its identity stays. */
function fragment(random: Random, object: Sample['object']): unknown {
  const changed = variation(random, object) as Record<string, unknown>;
  const { metadata, ...rest } = changed;
  const { name: _, ...labels } = (typeof metadata === 'object' && metadata !== null ? metadata : {}) as Record<
    string,
    unknown
  >;
  const parts = Object.entries(rest).filter(([key]) => key !== 'apiVersion' && key !== 'kind' && chance(random, 0.8));
  return { ...Object.fromEntries(parts), ...(chance(random, 0.5) ? { metadata: labels } : {}) };
}

function applied(random: Random, object: Sample['object'], path: string): Step {
  const body = { ...(fragment(random, object) as object), apiVersion: object.apiVersion, kind: object.kind };
  const metadata = { ...(body as { metadata?: object }).metadata, name: object.metadata.name };
  const query = `?fieldManager=${pick(random, ['me', 'you'])}${pick(random, ['', '&force=true', '&dryRun=All'])}`;
  return patch(path + query, { ...body, metadata }, APPLY);
}

function operations(random: Random, object: Sample['object']): readonly object[] {
  const paths: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (path !== '' && path !== '/apiVersion' && path !== '/kind' && path !== '/metadata' && path !== '/metadata/name')
      paths.push(path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value))
      walk(member, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  };
  walk(object, '');
  return Array.from({ length: 1 + integerBelow(random, 2) }, () => {
    const path = pick(random, paths) + (chance(random, 0.1) ? '/extra' : '');
    const op = pick(random, ['add', 'replace', 'remove', 'test', 'copy', 'move']);
    if (op === 'remove') return { op, path };
    if (op === 'copy' || op === 'move') return { op, from: pick(random, paths), path };
    return { op, path, value: pick(random, ['text', 5, true, null, {}, [], { a: 'b' }, ['a']]) };
  });
}
