import { jasmWith } from '@bowline/jasm';
import type { Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { POD_ANNOTATIONS, SECRET_ANNOTATIONS } from '../../../operators/jasm/src/api/names.ts';
import { FakeAws, useEnvironment } from '../../../operators/jasm/src/testing/fake-aws.test-support.ts';
import { FakeVault } from '../../../operators/jasm/src/testing/fake-vault.test-support.ts';
import { type JasmCluster, jasmCluster } from '../../../operators/jasm/src/testing/jasm-cluster.test-support.ts';
import { textOf } from './examples.test-support.ts';

type Values = Readonly<Record<string, string>>;

/** What the plan shows as an answer of AWS. */
const CONFIG: Values = { DB_HOST: 'db.example.com', DB_USER: 'admin', DB_PASSWORD: 'secret123' };
const API_KEYS: Values = { API_KEY: 'key-1' };

/** annotation is what a pod asks in an example of the plan, as it stands there. */
function annotation(file: string): string {
  return (parse(textOf(`examples/seed/${file}`)) as Values)[POD_ANNOTATIONS.secretSync] ?? '';
}

/** asInThePlan is the Secret of the plan with its placeholders filled in. */
function asInThePlan(secret: Secret, provider: string, path: string, values: Values): unknown {
  const { name = '', namespace = '', annotations = {} } = secret.metadata ?? {};
  const time = annotations[SECRET_ANNOTATIONS.syncedAt] ?? '';
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const data = Object.entries(values).map(([key, value]) => `${key}: ${Buffer.from(value).toString('base64')}`);
  const text = textOf('examples/seed/secret.yaml')
    .replace('<from annotation secretName>', name)
    .replace('<same as pod>', namespace)
    .replace('<provider name>', provider)
    .replace('<external secret path>', path)
    .replace('<RFC3339 timestamp>', `"${time}"`)
    .replace('<key>: <base64-encoded value>\n  ...', data.join('\n  '));
  return parse(text);
}

describe('the examples of the plan', () => {
  let aws: FakeAws;
  let vault: FakeVault;
  let c: JasmCluster;
  let environment: Disposable;
  beforeAll(async () => {
    aws = await FakeAws.start();
    vault = await FakeVault.start();
    environment = useEnvironment(aws.environment);
    const config = { allowAllPaths: true, vault: { address: vault.http.url, auth: { method: 'token' } } };
    c = await jasmCluster({ operators: [jasmWith({ env: { VAULT_TOKEN: vault.rootToken } })], config });
  });
  afterAll(async () => {
    await c[Symbol.asyncDispose]();
    environment[Symbol.dispose]();
    await vault[Symbol.asyncDispose]();
    await aws[Symbol.asyncDispose]();
  });

  /** untilExampleSecret waits for a Secret and expects the data and metadata of the plan, and no other data. */
  async function untilExampleSecret(name: string, provider: string, path: string, values: Values): Promise<Secret> {
    const secret = await c.untilSecret(name);
    expect(secret).toMatchObject(asInThePlan(secret, provider, path, values) as object);
    expect(Object.keys(secret.data ?? {}).sort()).toEqual(Object.keys(values).sort());
    return secret;
  }

  it('v1: one secret is written as the documented Secret', async () => {
    aws.put('/prod/codnod/config', CONFIG);
    await c.createPod('v1', annotation('v1.yaml'));
    await untilExampleSecret('app-credentials', 'aws-secretsmanager', '/prod/codnod/config', CONFIG);
    expect(await c.untilEvent('v1', 'SecretSyncSuccess')).toMatchObject({ type: 'Normal' });
  });

  it('v2: each of several secrets is written as a Secret', async () => {
    aws.put('/prod/db/credentials', CONFIG);
    vault.put('secret', 'api-keys', API_KEYS);
    await c.createPod('v2', annotation('v2.yaml'));
    await untilExampleSecret('db-credentials', 'aws-secretsmanager', '/prod/db/credentials', CONFIG);
    await untilExampleSecret('api-keys', 'vault', 'secret/data/api-keys', API_KEYS);
  });

  it('v3: the Secret has the selected keys and the version of AWS', async () => {
    const version = aws.put('/prod/all-secrets', { ...CONFIG, ...API_KEYS });
    await c.createPod('v3', annotation('v3.yaml'));
    const chosen = { DB_PASSWORD: CONFIG.DB_PASSWORD ?? '', ...API_KEYS };
    const secret = await untilExampleSecret('filtered-secret', 'aws-secretsmanager', '/prod/all-secrets', chosen);
    const shown = parse(textOf('examples/seed/v3-version.yaml').replace('v123', version)) as object;
    expect(secret.metadata).toMatchObject(shown);
  });
});
