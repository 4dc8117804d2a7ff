import type { Resource } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { given, testWebhook } from '@bowline/runtime/testing';
import { describe, expect, it } from 'vitest';
import { SINGLETON } from '../api/names.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { ZtwimMetrics } from '../metrics.ts';
import { sampleConfig } from '../testing/sample-inputs.test-support.ts';
import { respondTo } from './review.ts';
import { objectsWith, parentWith } from './shared-objects.test-support.ts';
import { webhooks } from './webhooks.ts';

const metadata = { name: SINGLETON };
const parent = { metadata, spec: { trustDomain: 'a.io', clusterName: 'one', jwtIssuer: 'https://a.io' } };
const registry = createMetrics({ process: false });
const deps = { config: sampleConfig(), metrics: new ZtwimMetrics({ metrics: registry, clock: systemClock }) };

function webhook(name: string) {
  const found = webhooks.find((each) => each.name === name);
  if (!found) throw new Error(`there is no webhook ${name}`);
  return found;
}

describe('the webhooks', () => {
  it('fail closed only where they review, and see nothing but changed specs', () => {
    expect(webhooks.map(({ name, type, failurePolicy }) => `${name} ${type} ${failurePolicy}`)).toEqual([
      'server-inherit mutating Ignore',
      'agent-inherit mutating Ignore',
      'oidc-inherit mutating Ignore',
      'config-review validating Fail',
      'server-review validating Fail',
      'agent-review validating Fail',
      'csi-review validating Fail',
      'oidc-review validating Fail',
    ]);
    for (const { operations, sideEffects, timeoutSeconds, matchConditions } of webhooks) {
      expect({ operations, sideEffects, timeoutSeconds }).toEqual({
        operations: ['CREATE', 'UPDATE'],
        sideEffects: 'None',
        timeoutSeconds: 5,
      });
      expect(matchConditions).toHaveLength(2);
    }
  });

  it('refuse a conflict with 422, and name the field', async () => {
    const objects = [given(ZeroTrustWorkloadIdentityManager, parent)];
    await using t = await testWebhook(SpireServer, webhook('server-review'), { deps, objects });
    const outcome = await t.create({ metadata, spec: { trustDomain: 'b.io' } });
    expect(outcome).toMatchObject({ allowed: false, code: 422, causes: [{ field: 'spec.trustDomain' }] });
    expect(outcome.message).toContain('"a.io"');
    expect(await registry.render()).toContain('ztwim_admission_denied_total{kind="SpireServer",field="trustDomain"} 1');
  });

  it('fill in inherited values, and warn about deprecated ones', async () => {
    const objects = [given(ZeroTrustWorkloadIdentityManager, parent)];
    await using t = await testWebhook(SpireServer, webhook('server-inherit'), { deps, objects });
    const { object, warnings } = await t.create({ metadata, spec: { trustDomain: 'a.io' } });
    expect(object?.spec).toMatchObject(parent.spec);
    expect(warnings).toEqual([expect.stringContaining('SpireServer.spec.trustDomain is deprecated')]);
  });
});

describe('respondTo', () => {
  const problem = { field: 'spec.trustDomain', reason: 'FieldValueInvalid', message: 'old' } as const;
  const fresh = objectsWith(parentWith({ trustDomain: 'new.io' }));
  const reads = { get: () => undefined, list: () => [] } as never as Parameters<typeof respondTo>[0];
  // Only the ZeroTrustWorkloadIdentityManager exists, and the cache does not have it yet.
  const find = (kind: Resource) =>
    Promise.resolve(kind.kind === 'ZeroTrustWorkloadIdentityManager' ? fresh.parent : undefined);
  const ignore = () => {};
  const request = { ...reads, live: { find: find as never } };

  it('refuses nothing because of what the cache does not have yet', async () => {
    const review = ({ parent: found }: { readonly parent: unknown }) => ({
      problems: found ? [] : [problem],
      warnings: [],
    });
    const response = await respondTo(request, review, ignore);
    expect(response).toMatchObject({ warnings: [] });
    expect(response).not.toHaveProperty('causes');
  });

  it('refuses what the live objects contradict', async () => {
    const response = await respondTo(request, () => ({ problems: [problem], warnings: ['w'] }), ignore);
    expect(response).toMatchObject({ code: 422, causes: [problem], warnings: [] });
  });
});
