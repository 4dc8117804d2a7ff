import { cluster } from '@bowline/control-plane/testing';
import * as kinds from '@bowline/kubernetes';
import { apiVersionOf, type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { appliedFields, builtInShape, findDifference, integerBelow, pick, seededRandom } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import type { Client } from '../client/client.ts';
import { ApiError } from '../errors/api-error.ts';
import { type SampleObject, sampleObjects } from './sample-objects.test-support.ts';

const MANAGER = 'field-set-test';
const resources = Object.values(kinds).filter((value) => typeof value === 'object') as Resource<KubernetesObject>[];

/** Nothing in the embedded control plane acts on this kind, so it does not serve it. */
const REFUSED_BY_EMBEDDED = ['CronJob'];

function differenceIn(desired: SampleObject, live: KubernetesObject) {
  const { apiVersion = '', kind = '' } = desired;
  const owned = appliedFields(live, MANAGER, apiVersion);
  if (owned === undefined) throw new Error('the manager owns nothing');
  return findDifference(desired, live, owned, builtInShape(apiVersion, kind));
}

/** serverSays returns what the server would store for an apply, or undefined when it rejects it. */
async function serverSays(
  client: Client,
  resource: Resource<KubernetesObject>,
  live: KubernetesObject,
  desired: SampleObject,
  dryRun = true,
): Promise<KubernetesObject | undefined> {
  const { uid: _, ...metadata } = desired.metadata ?? {};
  const body = { ...desired, metadata };
  const options = { fieldManager: MANAGER, dryRun, fieldValidation: 'Ignore' } as const;
  try {
    return await client.patch(resource, keyOf(live), { type: 'apply', body, force: true }, options);
  } catch (error) {
    // It returns 400, 422 or, for an unknown field, 500.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** timeless removes what differs between any two responses. */
function timeless(object: KubernetesObject): string {
  const { resourceVersion: _, managedFields, ...metadata } = object.metadata ?? {};
  const ours = managedFields
    ?.filter(({ manager }) => manager === MANAGER)
    .map((entry) => ({ ...entry, time: undefined }));
  // Controllers write the status meanwhile. The generation counts changes, so it must not change either.
  return JSON.stringify({ ...object, status: undefined, metadata: { ...metadata, managedFields: ours } });
}

/**
 * variantOf changes one thing in the desired object: drops, changes or adds a member, or moves an element of a list.
 */
function variantOf(desired: SampleObject, random: ReturnType<typeof seededRandom>): SampleObject {
  const copy = structuredClone(desired) as { [name: string]: unknown };
  const nodes: (unknown[] | { [name: string]: unknown })[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      nodes.push(value);
      for (const each of value) visit(each);
    } else if (typeof value === 'object' && value !== null) {
      nodes.push(value as { [name: string]: unknown });
      for (const each of Object.values(value)) visit(each);
    }
  };
  for (const [name, value] of Object.entries(copy))
    if (!['apiVersion', 'kind', 'metadata'].includes(name)) visit(value);
  visit((copy.metadata as { labels?: unknown } | undefined)?.labels);
  const node = pick(random, nodes);
  if (Array.isArray(node)) {
    const [item] = node.splice(integerBelow(random, Math.max(node.length, 1)), 1);
    if (random.next() < 0.6 && item !== undefined) node.splice(integerBelow(random, node.length + 1), 0, item);
    return copy;
  }
  const names = Object.keys(node);
  const name = names.length === 0 ? 'added' : pick(random, names);
  const value = node[name];
  if (random.next() < 0.4) delete node[name];
  else if (typeof value === 'number') node[name] = pick(random, [value, value + 1, 0]);
  else if (typeof value === 'string') node[name] = pick(random, [`${value}a`, '', '2', '1Gi']);
  else if (typeof value === 'boolean') node[name] = !value;
  else if (random.next() < 0.3) node[name] = Array.isArray(value) ? [] : {};
  else node.added = 'a';
  return copy;
}

describe('findDifference and a control plane', () => {
  test('agree on the effect of a repeated or changed apply, for every sample', { timeout: 300_000 }, async () => {
    await using c = await cluster();
    const random = seededRandom(20_260_115);
    const count = { cases: 0, changed: 0, needless: [] as string[] };
    const refused: readonly (string | undefined)[] = c.controlPlane.kind === 'embedded' ? REFUSED_BY_EMBEDDED : [];
    for (const desired of sampleObjects) {
      const resource = resources.find(
        (each) => apiVersionOf(each) === desired.apiVersion && each.kind === desired.kind,
      );
      if (resource === undefined) throw new Error(`no resource for ${desired.kind}`);
      const namespaced = resource.scope === 'Namespaced';
      const name = namespaced ? keyOf(desired).name : c.uniqueName(keyOf(desired).name);
      const metadata = { ...desired.metadata, name, ...(namespaced ? { namespace: c.namespace } : {}) };
      const object = { ...desired, metadata };
      const live = await serverSays(c.admin, resource, object, object, false);
      if (refused.includes(desired.kind)) {
        expect(live, `${desired.kind} is no longer refused: compare it too`).toBeUndefined();
        continue;
      }
      if (live === undefined) throw new Error(`the server refuses the sample ${desired.kind}`);
      c.onDispose(() => c.admin.delete(resource, keyOf(live)));
      expect(differenceIn(object, live), `${desired.kind} applied again`).toBeUndefined();

      for (let run = 0; run < 8; run++) {
        const variant = variantOf(object, random);
        const current = await c.admin.get(resource, keyOf(live));
        const answer = await serverSays(c.admin, resource, current, variant);
        if (answer === undefined) continue;
        const changes = timeless(answer) !== timeless(current);
        const difference = differenceIn(variant, current);
        count.cases++;
        if (changes) count.changed++;
        // A change that we miss is lost; a false positive costs only a request.
        if (changes) expect(difference, `${desired.kind} ${JSON.stringify(variant)}`).toBeDefined();
        else if (difference) count.needless.push(`${desired.kind} ${difference.path} ${difference.why}`);
      }
    }
    expect(count.cases).toBeGreaterThan(100);
    expect(count.changed).toBeGreaterThan(50);
    expect(count.needless.length, count.needless.join('\n')).toBeLessThan(count.cases / 10);
  });
});
