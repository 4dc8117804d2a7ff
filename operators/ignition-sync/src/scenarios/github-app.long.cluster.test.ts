import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Secret } from '@bowline/kubernetes';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { objectNames } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';

const TOKEN = 'ghs_token';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario({
    gitServer: { plain: false, auth: { username: 'x-access-token', password: TOKEN } },
    config: { 'ignition-sync': { githubApps: true } },
    // One of its servers does not answer.
    isGitSlow: true,
  });
  await c.secret('token', { value: TOKEN });
});
afterAll(() => c[Symbol.asyncDispose]());

const ref = (name: string) => ({ name, key: 'value' });

/** startGitHub is GitHub's API for tokens of Apps: POST /app/installations/ID/access_tokens returns 201 with token and expires_at. */
async function startGitHub() {
  const authority = await createCertificateAuthority({ commonName: 'api test' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'localhost',
    dnsNames: ['localhost'],
    usages: ['server'],
  });
  const api = { issued: 0, status: 201, isHanging: false };
  const server = createServer({ cert: certificatePem, key: keyPem }, (_request, response) => {
    if (api.isHanging) return;
    if (api.status !== 201) return void response.writeHead(api.status).end('{"message":"Bad credentials"}');
    api.issued++;
    const expires_at = new Date(c.clock.now() + 3_600_000).toISOString();
    response.writeHead(201).end(JSON.stringify({ token: TOKEN, expires_at }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  c.onDispose(async () => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(api, {
    ca: authority.certificatePem,
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
  });
}

it('scenario 05 authenticates as a GitHub App, renews its token, and passes it to agents', async () => {
  const api = await startGitHub();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await c.secret('app-key', { value: pem });
  await c.secret('both-cas', { value: `${c.git.ca}\n${api.ca}` });
  const githubApp = { appId: 1, installationId: 2, privateKeySecretRef: ref('app-key'), apiBaseURL: api.url };
  const git = { auth: { githubApp }, caSecretRef: ref('both-cas') };
  api.status = 401;
  await c.sync('app', { git, polling: { interval: '10m' } });
  await c.untilCondition('app', 'RepoCloned', {
    status: 'False',
    message: 'AuthenticationFailed: .* refused the GitHub App',
  });
  api.status = 201;
  await c.advanceTime(30_000);
  await c.untilCondition('app', 'RepoCloned', { status: 'True' });
  const key = c.key(objectNames('app').githubToken);
  const delivered = await c.until(Secret, key, () => true);
  expect(Buffer.from(delivered.data?.token ?? '', 'base64').toString()).toBe(TOKEN);
  expect(delivered.metadata?.ownerReferences).toMatchObject([{ kind: 'IgnitionSync', name: 'app' }]);
  expect(await c.metadata('app')).toMatchObject({ authType: 'githubApp' });
  const issued = api.issued;
  for (let minutes = 0; minutes < 60; minutes += 10) await c.advanceTime(600_000);
  const isRenewed = ({ metadata }: Secret): boolean =>
    metadata?.resourceVersion !== delivered.metadata?.resourceVersion;
  await c.until(Secret, key, isRenewed);
  expect(api.issued).toBe(issued + 1);
  // The token exchange has a timeout of its own, and does not hold up other IgnitionSyncs.
  api.isHanging = true;
  await c.sync('hanging', { git: { ...git, auth: { githubApp: { ...githubApp, installationId: 3 } } } });
  await c.sync('unaffected', { git: { auth: { token: { secretRef: ref('token') } }, caSecretRef: ref('both-cas') } });
  await c.untilCondition('unaffected', 'RepoCloned', { status: 'True' });
  await c.advanceTime(31_000);
  await c.untilCondition('hanging', 'RepoCloned', { status: 'False', message: 'Timeout: ' });
}, 120_000);

it('scenario 05 refuses GitHub Apps unless the operator allows them, which needs permission to write Secrets', async () => {
  await using other = await startControllerScenario();
  const githubApp = { appId: 1, installationId: 2, privateKeySecretRef: ref('app-key') };
  await other.sync('app', { git: { repo: 'https://git.example.com/plant.git', auth: { githubApp } } });
  const message = 'spec.git.auth.githubApp is not allowed; set githubApps in the configuration of the operator';
  await other.untilCondition('app', 'RepoCloned', { status: 'False', reason: 'GitHubAppsDisabled', message });
});
