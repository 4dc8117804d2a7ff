import { readFileSync } from 'node:fs';
import { Pod, type Secret } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SECRET_ANNOTATIONS } from '../api/names.ts';
import { podSpec } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';
import { openVault, type VaultBackend } from './vault-backend.test-support.ts';

// The examples of the original's design document, verbatim: the documentation's own copies.
const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../docs/operators/jasm/examples/seed/${name}.yaml`, import.meta.url), 'utf8');

/** The response of Secrets Manager there. */
const SECRET = { DB_HOST: 'db.example.com', DB_USER: 'admin', DB_PASSWORD: 'secret123' };

let vault: VaultBackend;
let c: Scenario;
beforeAll(async () => {
  vault = await openVault();
  c = await startScenario({ config: { vault: vault.section } });
}, 1_800_000);
afterAll(async () => {
  await c[Symbol.asyncDispose]();
  await vault[Symbol.asyncDispose]();
});

/** create creates a pod with the annotation of a fixture. */
const create = (name: string): Promise<Pod> =>
  c.admin.create(Pod, {
    metadata: {
      namespace: c.namespace,
      name,
      annotations: parse(fixture(name)) as Readonly<Record<string, string>>,
    },
    spec: podSpec(),
  });

/** Shown holds the values for the placeholders of the document's Secret. */
interface Shown {
  readonly name: string;
  readonly provider: string;
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * untilExampleSecret waits for a Secret, and expects it to equal that of the document with its placeholders filled in.
 */
async function untilExampleSecret({ name, provider, path, values }: Shown): Promise<Secret> {
  const secret = await c.untilSecret(name);
  const syncedAt = secret.metadata?.annotations?.[SECRET_ANNOTATIONS.syncedAt] ?? '';
  expect(parseTime(syncedAt)).toBeGreaterThan(0);
  const data = Object.entries(values).map(([key, value]) => `${key}: ${Buffer.from(value).toString('base64')}`);
  const filled = fixture('secret')
    .replace('<from annotation secretName>', name)
    .replace('<same as pod>', c.namespace)
    .replace('<provider name>', provider)
    .replace('<external secret path>', path)
    .replace('<RFC3339 timestamp>', JSON.stringify(syncedAt))
    .replace('<key>: <base64-encoded value>', data.join('\n  '))
    .replace(/^ {2}\.\.\.$/m, '');
  const { data: shownData, ...shown } = parse(filled) as Secret;
  expect(secret).toMatchObject(shown);
  expect(secret.data).toEqual(shownData);
  return secret;
}

it('creates the Secret for the first version of the annotation as documented', async () => {
  const path = '/prod/codnod/config';
  const version = await c.aws.put(path, SECRET);
  await create('v1');
  const secret = await untilExampleSecret({
    name: 'app-credentials',
    provider: 'aws-secretsmanager',
    path,
    values: SECRET,
  });
  // The third version of the document adds the version of the source.
  const { annotations } = parse(fixture('v3-version')) as { readonly annotations: object };
  expect(Object.keys(annotations)).toEqual([SECRET_ANNOTATIONS.version]);
  expect(secret.metadata?.annotations?.[SECRET_ANNOTATIONS.version]).toBe(version);
  await c.untilEvent('v1', 'SecretSyncSuccess');
});

it('creates the Secrets for the second version, from two stores', async () => {
  const [path, keysPath] = ['/prod/db/credentials', 'secret/data/api-keys'];
  await c.aws.put(path, SECRET);
  await vault.put('api-keys', { API_KEY: 'k' });
  await create('v2');
  await untilExampleSecret({ name: 'db-credentials', provider: 'aws-secretsmanager', path, values: SECRET });
  await untilExampleSecret({ name: 'api-keys', provider: 'vault', path: keysPath, values: { API_KEY: 'k' } });
});

it('creates the Secret for the third version with the selected keys only', async () => {
  const path = '/prod/all-secrets';
  await c.aws.put(path, { ...SECRET, API_KEY: 'k' });
  await create('v3');
  const values = { DB_PASSWORD: 'secret123', API_KEY: 'k' };
  await untilExampleSecret({ name: 'filtered-secret', provider: 'aws-secretsmanager', path, values });
});
