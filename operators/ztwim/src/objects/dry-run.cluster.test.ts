import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { apiVersionOf } from '@bowline/kubernetes';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentObjects } from '../agent/agent-objects.ts';
import { csiObjects } from '../csi/csi-objects.ts';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { generatedInputs, renderAll } from '../testing/generated-inputs.test-support.ts';
import {
  type Overrides,
  sampleAgent,
  sampleCsi,
  sampleOidc,
  sampleServer,
} from '../testing/sample-inputs.test-support.ts';
import { AGENT_VARIANTS, CSI_VARIANTS, OIDC_VARIANTS, SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { Route } from '../third-party/route.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import type { Child } from './child.ts';

/** Only OpenShift and clusters with the Gateway API serve these. */
const NOT_SERVED: readonly string[] = [Route, SecurityContextConstraints, TLSRoute, HTTPRoute].map(({ kind }) => kind);

let c: Cluster;

beforeAll(async () => {
  c = await cluster({ isolation: 'control-plane' });
  await installCustomResourceDefinitions(c.admin, [ClusterSPIFFEID]);
});
afterAll(() => c[Symbol.asyncDispose]());

function inNamespace<O extends Overrides<unknown>>(overrides: O): O {
  return { ...overrides, config: { ...overrides.config, operandNamespace: c.namespace } };
}

/** Fails with the message of the API server, which names the field. */
async function dryRun(children: readonly Child[]): Promise<void> {
  for (const { resource, object } of children) {
    if (NOT_SERVED.includes(resource.kind)) continue;
    const { name = '', namespace } = object.metadata ?? {};
    const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
    const key = { name, ...(namespace === undefined ? {} : { namespace }) };
    const options = { dryRun: true, fieldManager: 'test' };
    const applied = await c.admin.patch(resource, key, { type: 'apply', body, force: true }, options);
    expect(applied.metadata?.name).toBe(name);
  }
}

describe('the API server accepts the objects', () => {
  it.each(Object.entries(SERVER_VARIANTS))('of a SpireServer with %s', (_, overrides) =>
    dryRun(serverObjects(sampleServer(inNamespace(overrides)))),
  );

  it.each(Object.entries(AGENT_VARIANTS))('of a SpireAgent with %s', (_, overrides) =>
    dryRun(agentObjects(sampleAgent(inNamespace(overrides)))),
  );

  it.each(Object.entries(CSI_VARIANTS))('of a SpiffeCSIDriver with %s', (_, overrides) =>
    dryRun(csiObjects(sampleCsi(inNamespace(overrides)))),
  );

  it.each(Object.entries(OIDC_VARIANTS))('of a SpireOIDCDiscoveryProvider with %s', (_, overrides) =>
    dryRun(oidcObjects(sampleOidc(inNamespace(overrides)))),
  );

  it('of generated specs', async () => {
    await fc.assert(
      fc.asyncProperty(generatedInputs, ({ server, agent, csi, oidc }) =>
        dryRun(
          renderAll({
            server: inNamespace(server),
            agent: inNamespace(agent),
            csi: inNamespace(csi),
            oidc: inNamespace(oidc),
          }),
        ),
      ),
      { numRuns: 10 },
    );
  });
});
