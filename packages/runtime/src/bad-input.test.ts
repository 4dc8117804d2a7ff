import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ConfigMap, Secret } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { s } from '@bowline/machinery/schema';
import { expect, test, vi } from 'vitest';
import { readLeaf } from './certificates/pem.ts';
import { createClient } from './client/create-client.ts';
import { ScriptedTransport } from './client/scripted-transport.test-support.ts';
import { controller } from './controller/builder.ts';
import { operatorIdentity } from './identity/operator-identity.ts';
import { defineOperator } from './operator/operator.ts';
import { readConfig } from './operator/operator-config.ts';
import { allow } from './permissions/permission.ts';
import { restrictedClient } from './permissions/restricted-client.ts';
import { defineResource } from './resource/define-resource.ts';
import { RequestScope } from './transport/request-scope.ts';
import { decodeReview } from './webhook/admission-review.ts';
import { BodyBudget } from './webhook/body-budget.ts';
import { CertificateWorld } from './webhook/certificates/certificate-world.test-support.ts';
import { webhookProfile } from './webhook/certificates/webhook-certificates.ts';
import { readBody } from './webhook/read-body.ts';
import { assertCanOwn, type Owner, ownerReferencesWith } from './writing/owner-reference.ts';
import { createWriter } from './writing/writer.ts';

const CANARY = 'canary';
const webhookTerms = webhookProfile(operatorIdentity({ name: 'sea', domain: 'bowline.dev' }));

const names = { group: 'example.dev', version: 'v1', kind: 'Site', scope: 'Namespaced' } as const;
const Site = defineResource({ ...names, spec: s.object({ size: s.integer().min(1) }) });
const sites = controller(Site).reconcile(() => {});

const key = { namespace: 'a', name: 'page' };
const owner: Owner = { resource: Site, object: { metadata: { namespace: 'a', name: 'site', uid: 'u-1' } } };
const taken: ConfigMap = {
  metadata: {
    ...key,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u-2', controller: true }],
  },
};

/** A client of the operator `pages`, which may read ConfigMaps of one namespace; none of its requests is answered. */
const pages = () => {
  const permissions = [allow(['get'], ConfigMap, { namespaces: ['a'] })];
  const client = createClient({ transport: new ScriptedTransport() });
  return restrictedClient(client, permissions, { operator: 'pages', namespace: 'system' });
};

const request = (body: string, headers = {}): IncomingMessage =>
  Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage;

const bodyOf = (from: IncomingMessage, maxBytes: number): Promise<string> => {
  const wire = new VirtualClock();
  const scope = new RequestScope({ signal: undefined, wire, timeoutMs: 1, onTimeout: () => new Error('late') });
  return readBody(from, { maxBytes, timeoutMs: 1, scope, share: new BodyBudget(maxBytes).begin(from), wire });
};

/**
 * Returns the error of a replica in a world with a Secret of another owner, or with another client that changes it
 * repeatedly.
 */
async function certificateProblem(world: CertificateWorld, again = () => {}): Promise<unknown> {
  await using _ = world;
  const { certificates } = world.start();
  return await vi.waitFor(
    () => {
      again();
      return certificates.problem() ?? expect.fail('there is no problem yet');
    },
    { timeout: 20_000, interval: 5 },
  );
}

interface Row {
  readonly input: string;
  /** The code of the error; for what a webhook's caller sees, the HTTP status. */
  readonly code: string | number;
  /** What the message must contain: the problem and the fix. */
  readonly messageParts: readonly string[];
  readonly attempt: () => unknown;
}

const rows: readonly Row[] = [
  {
    input: 'a schema whose bounds exclude each other',
    attempt: () => s.string().minLength(5).maxLength(3),
    code: 'BOWLINE_SCHEMA_INVALID',
    messageParts: ['minLength 5 is greater than maxLength 3', 'change one of them'],
  },
  {
    input: 'a default that violates its schema',
    attempt: () => s.string().maxLength(2).default('abc'),
    code: 'BOWLINE_SCHEMA_DEFAULT',
    messageParts: ['default: Too long', 'change it or the schema'],
  },
  {
    input: 'CEL that does not parse',
    attempt: () => s.integer().rule('self >'),
    code: 'BOWLINE_SCHEMA_RULE',
    messageParts: ['the rule "self >"', 'line 1, column 7', 'correct the rule'],
  },
  {
    input: 'CEL that refers to a missing field',
    attempt: () => s.object({ size: s.integer() }).rule('self.sise > 1'),
    code: 'BOWLINE_SCHEMA_RULE',
    messageParts: ["undefined field 'sise'", 'known fields are size', 'line 1, column 5', 'correct the rule'],
  },
  {
    input: 'CEL with mismatched types',
    attempt: () => s.object({ size: s.integer() }).rule("self.size == 'a'"),
    code: 'BOWLINE_SCHEMA_RULE',
    messageParts: ["no matching overload for '_==_' applied to '(int, string)'", 'correct the rule'],
  },
  {
    input: 'a pattern with look-around, which RE2 lacks',
    attempt: () => s.string().pattern('^(?!kube-)'),
    code: 'BOWLINE_SCHEMA_PATTERN',
    messageParts: ['"^(?!kube-)" is not a valid RE2 expression', 'remove look-around', 'use a validation rule instead'],
  },
  {
    input: 'a kind whose group is not a domain',
    attempt: () => defineResource({ ...names, group: 'Sites', spec: s.object({}) }),
    code: 'BOWLINE_CRD_INVALID',
    messageParts: ['the group "Sites" is not a domain name', 'such as example.com'],
  },
  {
    input: 'a column of a missing field',
    attempt: () =>
      defineResource({ ...names, spec: s.object({ size: s.integer() }), columns: [{ name: 'S', path: '.spec.sise' }] }),
    code: 'BOWLINE_CRD_INVALID',
    messageParts: ['the path .spec.sise of the column S', 'known fields are size'],
  },
  {
    input: 'a sample that violates its schema',
    attempt: () => {
      const sample = { apiVersion: 'example.dev/v1', kind: 'Site', metadata: { name: 'a' }, spec: { size: 0 } };
      return defineOperator({
        name: 'sites',
        domain: 'bowline.dev',
        resources: [Site],
        controllers: [sites],
        samples: [sample],
      });
    },
    code: 'BOWLINE_OPERATOR_INVALID',
    messageParts: [
      'its sample Site a is not valid: spec.size: Invalid value: 0',
      'should be greater than or equal to 1',
    ],
  },
  {
    input: 'a configuration that violates its schema',
    attempt: () => readConfig('sites', s.object({ port: s.integer().max(65_535) }), { port: 70_000, prot: 1 }),
    code: 'BOWLINE_CONFIG_INVALID',
    messageParts: ['port: Invalid value: 70000', 'should be less than or equal to 65535', 'prot: unknown setting'],
  },
  {
    input: 'a webhook body that is larger than allowed',
    attempt: () => bodyOf(request(`"${CANARY.repeat(10)}"`), 16),
    code: 413,
    messageParts: ['larger than 16 bytes', 'raise maxBodyBytes'],
  },
  {
    input: 'a webhook body with a content-length larger than allowed',
    attempt: () => bodyOf(request('{}', { 'content-length': '17' }), 16),
    code: 413,
    messageParts: ['larger than 16 bytes', 'raise maxBodyBytes'],
  },
  {
    input: 'a webhook body that is not JSON',
    attempt: () => decodeReview(`{"${CANARY}`),
    code: 400,
    messageParts: ['the body is not JSON', 'send an AdmissionReview of admission.k8s.io/v1'],
  },
  {
    input: 'a webhook body that is not a review',
    attempt: () => decodeReview(JSON.stringify({ kind: 'Pod', metadata: { name: CANARY } })),
    code: 400,
    messageParts: ['of kind "Pod", not AdmissionReview', 'send an AdmissionReview of admission.k8s.io/v1'],
  },
  {
    input: 'a certificate Secret that is damaged repeatedly',
    attempt: async () => {
      const world = new CertificateWorld();
      throw await certificateProblem(world, () => {
        const damaged = world.secret()['ca.key'];
        if (damaged !== undefined && damaged !== CANARY) world.damage({ 'ca.key': CANARY });
      });
    },
    code: 'BOWLINE_WEBHOOK_CONTESTED',
    messageParts: [
      'another client keeps changing the Secret sea-system/sea-webhook-tls',
      'let only one of them manage it',
    ],
  },
  {
    input: 'a certificate Secret of another author',
    attempt: async () => {
      const world = new CertificateWorld();
      world.damage({ 'tls.crt': CANARY });
      throw await certificateProblem(world);
    },
    code: 'BOWLINE_WEBHOOK_SECRET_FOREIGN',
    messageParts: ['it lacks the label', 'delete it, or configure it as an external certificate'],
  },
  {
    input: 'a given certificate that cannot be read',
    attempt: () => readLeaf('the folder /certificates', `-----BEGIN CERTIFICATE-----\n${CANARY}`, CANARY, webhookTerms),
    code: 'BOWLINE_WEBHOOK_CERTIFICATE',
    messageParts: [
      'the folder /certificates',
      'tls.crt is not a PEM certificate',
      'provide a PEM certificate and its key',
    ],
  },
  {
    input: 'an undeclared request',
    attempt: () => pages().delete(Secret, key),
    code: 'BOWLINE_UNDECLARED_PERMISSION',
    messageParts: ['the operator pages', 'may delete secrets page in namespace a', "add allow(['delete'], Secret)"],
  },
  {
    input: 'a request outside the declared namespaces',
    attempt: () => pages().get(ConfigMap, { ...key, namespace: 'b' }),
    code: 'BOWLINE_UNDECLARED_PERMISSION',
    messageParts: ['may get configmaps page in namespace b', 'only in the namespaces a', 'declare .owns(ConfigMap)'],
  },
  {
    input: 'a raw path that bypasses the declarations',
    attempt: () => pages().raw('/api/v1/secrets'),
    code: 'BOWLINE_UNDECLARED_PERMISSION',
    messageParts: ['may not request /api/v1/secrets as a raw path', 'use the client method for its kind'],
  },
  {
    input: 'a permission with a wildcard',
    attempt: () => allow(['*'], Secret),
    code: 'BOWLINE_PERMISSION_INVALID',
    messageParts: ['cannot allow * on Secret', 'wildcards are not supported'],
  },
  {
    input: 'a child that another owner controls',
    attempt: () => {
      const client = createClient({ transport: new ScriptedTransport({ body: taken }) });
      return createWriter({ client, fieldManager: 'm', ownership: { owner } }).apply(ConfigMap, { metadata: key });
    },
    code: 'BOWLINE_FOREIGN_OBJECT',
    messageParts: ['cannot apply ConfigMap a/page', 'owned by ReplicaSet rs', 'delete or rename it'],
  },
  {
    input: 'a second controller of an object',
    attempt: () => ownerReferencesWith(owner, { kind: 'ConfigMap', ...taken }),
    code: 'BOWLINE_OWNER_CONFLICT',
    messageParts: [
      'cannot make Site site the controller of ConfigMap page',
      'ReplicaSet rs controls it',
      'remove that reference',
    ],
  },
  {
    input: 'an owner in another namespace',
    attempt: () => assertCanOwn(owner, ConfigMap, { ...key, namespace: 'b' }),
    code: 'BOWLINE_OWNER_SCOPE',
    messageParts: ['Site', 'labels'],
  },
];

test.each(rows)(
  '$input → $code, with a message that names the problem and the fix',
  async ({ attempt, code, messageParts }) => {
    const error: unknown = await Promise.resolve()
      .then(attempt)
      .then(
        () => undefined,
        (problem: unknown) => problem,
      );
    expect(error).toMatchObject(typeof code === 'number' ? { status: code } : { code });
    const { message } = error as Error;
    for (const text of messageParts) expect(message).toContain(text);
    expect(message).toMatch(/^[a-z]/);
    expect(message).not.toMatch(/\.$/);
    expect(message).not.toContain(CANARY);
  },
);
