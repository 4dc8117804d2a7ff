import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it, test } from 'vitest';
import { controller } from './controller/builder.ts';
import { createLog } from './observability/create-log.ts';
import { defineOperator } from './operator/operator.ts';
import type { CustomResource } from './resource/custom-resource.ts';
import { defineResource } from './resource/define-resource.ts';
import { installCustomResourceDefinitions } from './resource/install-crds.ts';
import { admit } from './webhook/admission-response.ts';
import { validating } from './webhook/declare.ts';
import type { Owner } from './writing/owner-reference.ts';
import { createWriter } from './writing/writer.ts';

const names = { group: 'bad.test.bowline.dev', version: 'v1', kind: 'Site', scope: 'Namespaced' } as const;
const Site = defineResource({
  ...names,
  spec: s
    .object({ size: s.integer().min(1).default(1), name: s.string().pattern('^[a-z]+$').default('x') })
    .rule('self.size < 9 || self.name == "big"', { message: 'only big ones are large', fieldPath: '.size' }),
  status: s.object({}),
});

const site = (c: Cluster, spec: object) => ({ metadata: { namespace: c.namespace, name: 'a' }, spec }) as never;

async function install(c: Cluster, ...kinds: readonly CustomResource[]): Promise<void> {
  for (const { crd } of kinds) {
    c.onDispose(() =>
      c.admin.delete(CustomResourceDefinition, { name: crd.metadata?.name ?? '' }).catch(() => undefined),
    );
  }
  for (const kind of kinds) await installCustomResourceDefinitions(c.admin, [kind]);
}

interface Row {
  readonly input: string;
  readonly code: string;
  /** What the message must contain: the problem and the fix. */
  readonly messageParts: readonly string[];
  readonly attempt: (c: Cluster) => Promise<unknown>;
}

const rows: readonly Row[] = [
  {
    input: 'a definition in a group that needs approval',
    attempt: (c) => install(c, defineResource({ ...names, group: 'reserved.k8s.io', spec: s.object({}) })),
    code: 'BOWLINE_CRD_REFUSED',
    messageParts: ['sites.reserved.k8s.io', 'api-approved', 'correct the definition of the kind'],
  },
  {
    input: 'a definition without permission to install it',
    attempt: async (c) => installCustomResourceDefinitions((await c.serviceAccount()).client, [Site]),
    code: 'BOWLINE_CRD_FORBIDDEN',
    messageParts: ['sites.bad.test.bowline.dev', 'grant get, create and patch on customresourcedefinitions'],
  },
  {
    input: 'a definition with names that another one uses',
    attempt: (c) => {
      const taken = { ...names, kind: 'Taken', spec: s.object({}) };
      return install(c, defineResource({ ...taken, plural: 'takens' }), defineResource({ ...taken, plural: 'others' }));
    },
    code: 'BOWLINE_CRD_NAMES_TAKEN',
    messageParts: ['others.bad.test.bowline.dev', 'choose'],
  },
  {
    input: 'a value out of bounds',
    attempt: async (c) => {
      await installCustomResourceDefinitions(c.admin, [Site]);
      return c.admin.create(Site, site(c, { size: 0 }));
    },
    code: 'BOWLINE_API_INVALID',
    messageParts: ['cannot create Site', 'spec.size: Invalid value: 0', 'should be greater than or equal to 1'],
  },
  {
    input: 'a value that breaks a rule',
    attempt: async (c) => {
      await installCustomResourceDefinitions(c.admin, [Site]);
      return c.admin.create(Site, site(c, { size: 10 }));
    },
    code: 'BOWLINE_API_INVALID',
    messageParts: ['spec.size: Invalid value', 'only big ones are large'],
  },
  {
    input: 'a field that the schema does not know',
    attempt: async (c) => {
      await installCustomResourceDefinitions(c.admin, [Site]);
      return c.admin.create(Site, site(c, { sise: 1 }));
    },
    code: 'BOWLINE_API_BAD_REQUEST',
    messageParts: ['unknown field "spec.sise"', 'correct or remove it'],
  },
  {
    input: 'a child that another owner controls',
    async attempt(c) {
      const key = { namespace: c.namespace, name: 'child' };
      const { metadata } = await c.admin.create(ConfigMap, { metadata: { ...key, name: 'parent' } });
      const uid = metadata?.uid ?? '';
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid, controller: true };
      await c.admin.create(ConfigMap, { metadata: { ...key, ownerReferences: [reference] } });
      const owner: Owner = { resource: Site, object: { metadata: { ...key, uid: 'u-1' } } };
      return createWriter({ client: c.admin, fieldManager: 'm', ownership: { owner } }).apply(ConfigMap, {
        metadata: key,
      });
    },
    code: 'BOWLINE_FOREIGN_OBJECT',
    messageParts: ['cannot apply ConfigMap', 'owned by ConfigMap parent', 'delete or rename it'],
  },
];

test.each(rows)(
  '$input → $code, with a message that names the problem and the fix',
  async ({ attempt, code, messageParts }) => {
    await using c = await cluster({ prefix: 'bad' });
    const error: unknown = await attempt(c).then(
      () => undefined,
      (problem: unknown) => problem,
    );
    expect(error).toMatchObject({ code });
    for (const text of messageParts) expect((error as Error).message).toContain(text);
  },
);

describe('a certificate Secret that was damaged by hand', () => {
  const gate = validating(Site, { name: 'gate', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(() => admit());
  const sites = controller(Site).reconcile(() => {});
  const operator = defineOperator({
    name: 'bad-input',
    domain: 'bowline.dev',
    resources: [Site],
    controllers: [sites],
    webhooks: [gate],
  });

  it.each([
    ['tls.key', 'tls.crt and tls.key are not a certificate and its key'],
    ['ca.crt', 'ca.crt contains no CA certificate'],
    ['ca.key', 'ca.key is unreadable or does not belong to a CA in ca.crt'],
  ])('in %s is repaired and logged without its content, and the webhook keeps admitting', async (field, text) => {
    const logged: string[] = [];
    const log = createLog({ destination: { write: (line: string) => void logged.push(line) } });
    await using c = await cluster({ operators: [operator], log, prefix: 'bad' });
    const key = { namespace: c.managerNamespace, name: 'bad-input-webhook-tls' };
    const damaged = Buffer.from('canary').toString('base64');
    const { data = {} } = await c.admin.get(Secret, key);
    await c.admin.patch(Secret, key, { type: 'merge', body: { data: { [field]: damaged } } });
    const repaired = await c.until(Secret, key, (secret) => secret.data?.[field] !== damaged);
    expect(repaired.data?.['ca.crt']).toBe(data['ca.crt']);
    await c.admin.create(Site, Site.withDefaults({ metadata: { namespace: c.namespace, name: 'a' }, spec: {} }));
    const lines = logged.filter((line) => line.includes('"step":"repair"'));
    expect(lines.join()).toContain(text);
    expect(logged.join()).not.toContain('canary');
    expect(logged.join()).not.toContain(damaged);
  });
});
