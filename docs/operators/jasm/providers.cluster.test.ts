import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf, Secret } from '@bowline/kubernetes';
import { glob } from '@bowline/machinery';
import { afterAll, describe, expect, it } from 'vitest';
import { MOCK_SECRET, mockSecretData } from '../../../operators/jasm/src/providers/mock/mock-values.ts';
import { FakeAws, useEnvironment } from '../../../operators/jasm/src/testing/fake-aws.test-support.ts';
import { FakeAzure } from '../../../operators/jasm/src/testing/fake-azure.test-support.ts';
import { FakeVault } from '../../../operators/jasm/src/testing/fake-vault.test-support.ts';
import { errorsIn, startExample, textOf, VALUE } from './examples.test-support.ts';

const folder = mkdtempSync(join(tmpdir(), 'bowline-jasm-pages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = 'the token of the ServiceAccount';
const tokenFile = join(folder, 'token');
writeFileSync(tokenFile, TOKEN);

/** Longer than a store believes a session that it has refused to be young. */
const A_WHILE_MS = 120_000;

describe('aws-secretsmanager', () => {
  const page = textOf('providers/aws-secretsmanager.md');
  const ROLE = 'arn:aws:iam::123456789012:role/shop-secrets';

  it('delivers the secret of the example with the permissions of the page, and fails with the documented messages', async () => {
    await using aws = await FakeAws.start();
    using _ = useEnvironment(aws.environment);
    aws.put('prod/shop/db', VALUE);
    await using c = await startExample({ config: 'aws-secretsmanager/bowline.yaml' });
    await c.apply('aws-secretsmanager/pod.yaml');
    await c.untilExampleSecret('aws-secretsmanager');
    const { Statement } = JSON.parse(textOf('examples/aws-secretsmanager/iam-policy.json')) as {
      readonly Statement: readonly { readonly Action: string | readonly string[] }[];
    };
    const allowed = Statement.flatMap(({ Action }) => Action);
    for (const { operation } of aws.calls) expect(allowed).toContain(`secretsmanager:${operation}`);

    const messages = [
      await c.failure(() => aws.remove('prod/shop/db')),
      await c.failure(() => {
        aws.put('prod/shop/db', VALUE);
        aws.scheduleDeletion('prod/shop/db');
      }),
      await c.failure(() => aws.deny('GetSecretValue', 'prod/**')),
      await c.failure(() => {
        aws.allow();
        aws.fail('*', ...Array<string>(6).fill('ThrottlingException'));
      }),
    ];
    expect(messages).toEqual(errorsIn(page).slice(0, -1));
  });

  it('reads with the role of the namespace, tagged with its name, or reports that it is denied', async () => {
    await using aws = await FakeAws.start();
    using _ = useEnvironment(aws.environment);
    aws.put('prod/shop/db', VALUE);
    await using c = await startExample({ config: 'aws-secretsmanager/roles.yaml' });
    await c.apply('aws-secretsmanager/pod.yaml');
    expect(await c.failure(() => undefined)).toBe(errorsIn(page).at(-1));
    aws.sts.roles.set(ROLE, { externalId: 'jasm' });
    await c.force('web', 'now');
    await c.untilExampleSecret('aws-secretsmanager');
    expect(aws.calls.at(-1)).toMatchObject({ role: ROLE, sessionTags: { 'jasm-namespace': c.namespace } });
  });
});

it('vault delivers the secret of the example with the permissions of the page, and fails with the documented messages', async () => {
  await using fake = await FakeVault.start();
  fake.put('secret', 'shop/db', VALUE);
  fake.kubernetesRoles.set('jasm', TOKEN);
  await using c = await startExample({
    config: 'vault/bowline.yaml',
    fill: {
      'https://vault.example.com:8200': fake.http.url,
      'role: jasm': `role: jasm\n      tokenFile: ${tokenFile}`,
    },
  });
  await c.apply('vault/pod.yaml');
  await c.untilExampleSecret('vault');
  const allowed = [...textOf('examples/vault/policy.hcl').matchAll(/^path "(.*)"/gm)].map(([, path = '']) =>
    glob(path),
  );
  const reads = fake.http.calls.filter((call) => call.startsWith('GET '));
  expect(reads.length).toBeGreaterThan(0);
  for (const read of reads) expect(allowed.some(({ matches }) => matches(read.replace('GET /v1/', '')))).toBe(true);

  const messages = [
    await c.failure(() => fake.remove('secret', 'shop/db')),
    await c.failure(() => {
      fake.put('secret', 'shop/db', VALUE);
      fake.change('secret', 'shop/db', 'deleted');
    }),
    await c.failure(() => fake.deny('secret/data/**')),
    await c.failure(async () => {
      fake.kubernetesRoles.clear();
      fake.revoke();
      await c.clock.advance(A_WHILE_MS);
    }),
    await c.failure(() => {
      fake.kubernetesRoles.set('jasm', TOKEN);
      fake.http.fail(/data/, ...Array<{ status: number }>(6).fill({ status: 503 }));
    }),
  ];
  expect(messages).toEqual(errorsIn(textOf('providers/vault.md')));
});

it('azure-keyvault delivers the secret of the example, and fails with the documented messages', async () => {
  await using fake = await FakeAzure.start();
  fake.put('shop-db', VALUE);
  fake.assertions.set(fake.clientId, TOKEN);
  await using c = await startExample({
    config: 'azure-keyvault/bowline.yaml',
    fill: { 'https://shop-prod.vault.azure.net': fake.http.url },
    // What the webhook of Azure Workload Identity sets.
    env: {
      AZURE_TENANT_ID: fake.tenantId,
      AZURE_CLIENT_ID: fake.clientId,
      AZURE_FEDERATED_TOKEN_FILE: tokenFile,
      AZURE_AUTHORITY_HOST: fake.http.url,
    },
  });
  await c.apply('azure-keyvault/pod.yaml');
  await c.untilExampleSecret('azure-keyvault');

  const messages = [
    await c.failure(() => fake.http.fail(/shop-db/, { status: 404, body: { error: { code: 'SecretNotFound' } } })),
    await c.failure(() => fake.disable('shop-db')),
    await c.failure(() => fake.deny('shop-db')),
    await c.failure(async () => {
      fake.assertions.clear();
      fake.revoke();
      await c.clock.advance(A_WHILE_MS);
    }),
  ];
  expect(messages).toEqual(errorsIn(textOf('providers/azure-keyvault.md')));
});

it('kubernetes delivers a shared Secret of another namespace, and hides it from other namespaces', async () => {
  await using c = await startExample({ config: 'kubernetes/bowline.yaml', fill: { 'platform/*': 'platform-*/*' } });
  c.names.set('platform', await c.createNamespace('platform'));
  await c.apply('kubernetes/source.yaml');
  await c.apply('kubernetes/pod.yaml');
  await c.untilExampleSecret('kubernetes');
  const source = { namespace: c.names.get('platform'), name: 'db' };
  const metadata = { annotations: { 'jasm.codnod.io/shared-with': 'others' } };
  const messages = [await c.failure(() => c.admin.patch(Secret, source, { type: 'merge', body: { metadata } }))];
  expect(messages).toEqual(errorsIn(textOf('providers/kubernetes.md')));
});

it('mock delivers the secret of the example, and fails with the documented messages', async () => {
  await using c = await startExample({ config: 'mock/bowline.yaml' });
  const values = JSON.parse(VALUE) as Readonly<Record<string, string>>;
  const stored = {
    metadata: { namespace: c.managerNamespace, name: MOCK_SECRET },
    data: mockSecretData(new Map([['/prod/shop/db', values]])),
  };
  await c.admin.create(Secret, stored);
  await c.apply('mock/pod.yaml');
  await c.untilExampleSecret('mock');
  const messages = [await c.failure(() => c.admin.delete(Secret, keyOf(stored)))];
  expect(messages).toEqual(errorsIn(textOf('providers/mock.md')));
});
