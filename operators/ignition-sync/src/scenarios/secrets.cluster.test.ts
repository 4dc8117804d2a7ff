import { Secret } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { type ControllerScenario, type SpecChanges, startControllerScenario } from './controller.test-support.ts';

let c: ControllerScenario;
beforeAll(async () => {
  c = await startControllerScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const ref = (name: string) => ({ name, key: 'value' });
const SSH = 'ssh://git@localhost:1/plant.git';

const MISSING: readonly (readonly [name: string, field: string, changes: SpecChanges])[] = [
  ['token', 'spec.git.auth.token.secretRef', { git: { auth: { token: { secretRef: ref('missing-token') } } } }],
  [
    'ssh',
    'spec.git.auth.sshKey.secretRef',
    { git: { repo: SSH, auth: { sshKey: { secretRef: ref('missing-ssh') } } } },
  ],
  ['ca', 'spec.git.caSecretRef', { git: { caSecretRef: ref('missing-ca') } }],
  ['signers', 'spec.git.verify.secretRef', { git: { verify: { format: 'ssh', secretRef: ref('missing-signers') } } }],
];

it.each(MISSING)('scenario 03 reports a missing Secret: %s', async (name, field, changes) => {
  await c.sync(`missing-${name}`, changes);
  const message = `Repository not cloned: Secret missing-${name} does not exist; create it, or correct ${field}`;
  await c.untilCondition(`missing-${name}`, 'Ready', { status: 'False', reason: 'Reconciling', message });
  await c.untilEvent(`missing-${name}`, 'CloneFailed');
});

it('scenario 03 recovers within 30 s after a Secret and its key are created, and at once on request, without a storm', async () => {
  await c.sync('late', { git: { auth: { token: { secretRef: ref('late') } } } });
  await c.untilCondition('late', 'Ready', { message: 'Secret late does not exist' });
  const reads = () =>
    c.requests.filter((request) => request.endsWith('/late') && request.startsWith('get secrets')).length;
  const before = reads();
  await c.advanceTime(60_000);
  expect(reads() - before).toBeLessThanOrEqual(7);
  expect(reads() - before).toBeGreaterThanOrEqual(2);
  await c.secret('late', { other: 'x' });
  await c.advanceTime(30_000);
  await c.untilCondition('late', 'Ready', { message: 'Secret late has no key value; set it' });
  await c.admin.patch(Secret, c.key('late'), {
    type: 'merge',
    body: { data: { value: Buffer.from('token').toString('base64') } },
  });
  await c.annotate('late', { [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z' });
  await c.untilCondition('late', 'RepoCloned', { status: 'True' });
});

it('scenario 03 checks the API key after the ref (secret check hid the ref error)', async () => {
  const gateway = { apiKeySecretRef: ref('missing-api-key') };
  await c.sync('wrong-ref', { git: { ref: 'nowhere' }, gateway });
  await c.untilCondition('wrong-ref', 'Ready', { message: 'Repository not cloned: RefNotFound' });
  await c.change('wrong-ref', { git: { ref: 'main' } });
  const message = 'Secret missing-api-key does not exist; create it, or correct spec.gateway.apiKeySecretRef';
  const sync = await c.untilCondition('wrong-ref', 'Ready', { status: 'False', reason: 'Reconciling', message });
  expect(findCondition(sync, 'RepoCloned')).toMatchObject({ status: 'True', reason: 'CloneSucceeded' });
  await c.secret('missing-api-key', { value: 'name:secret' });
  await c.advanceTime(30_000);
  await c.untilCondition('wrong-ref', 'Ready', { message: 'Waiting for gateways to sync|no running pod' });
});
