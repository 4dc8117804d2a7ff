import { keyOf, LimitRange, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { isNotFound } from '@bowline/runtime/client';
import { applyCompanions, type CompanionManifest } from '@bowline/runtime/install';
import type { Cluster } from './cluster.ts';
import { limitedToCluster, ofCluster } from './isolated-client.ts';
import { waitFor } from './wait-for.ts';

/**
 * installCompanions does what an administrator does in production: it creates the companions of an operator, of which
 * admission policies apply to the test's namespaces alone, and waits until the API server enforces these. They are
 * removed with the cluster.
 */
export async function installCompanions(
  c: Cluster,
  operator: Operator,
  manifests: readonly CompanionManifest[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const companions = manifests.map((manifest) => limitedToTest(manifest, c.namespace));
  for (const companion of companions) {
    await applyCompanions(c.admin, operator, [companion], { signal });
    c.onDispose(() => c.admin.delete(companion.resource, keyOf(companion.object)).catch(ignoreNotFound));
  }
  const hasPolicies = companions.some(({ resource }) => resource.id === ValidatingAdmissionPolicyBinding.id);
  if (hasPolicies) await untilPoliciesAreEnforced(c, signal);
}

/** limitedToTest restricts a policy binding to the test's namespaces. Other companions are not limited. */
function limitedToTest({ resource, object }: CompanionManifest, cluster: string): CompanionManifest {
  if (resource.id !== ValidatingAdmissionPolicyBinding.id) return { resource, object };
  const { spec, ...binding } = object as ValidatingAdmissionPolicyBinding;
  const { matchResources } = spec ?? {};
  const namespaceSelector = limitedToCluster(matchResources?.namespaceSelector, cluster);
  const limited: ValidatingAdmissionPolicyBinding = {
    ...binding,
    spec: { ...spec, matchResources: { ...matchResources, namespaceSelector } },
  };
  return { resource, object: limited };
}

const PROBE_LABEL = 'probe.test.bowline.dev/policies';

/**
 * untilPoliciesAreEnforced waits until the API server enforces all policies that exist. It observes policies and their
 * bindings through one watch each, and evaluates what both have delivered. So once it enforces a policy and a binding
 * that are created last, it enforces the earlier ones too, and these need no probe of their own.
 */
async function untilPoliciesAreEnforced(c: Cluster, signal: AbortSignal | undefined): Promise<void> {
  const name = c.uniqueName('probe');
  const metadata = { name };
  await c.admin.create(ValidatingAdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: {
        objectSelector: { matchLabels: { [PROBE_LABEL]: name } },
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['limitranges'], operations: ['CREATE'] }],
      },
      validations: [{ expression: 'false', message: name }],
    },
  });
  try {
    await c.admin.create(ValidatingAdmissionPolicyBinding, {
      metadata,
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: ofCluster(c.namespace) },
      },
    });
    await waitFor('the API server to enforce admission policies', () => isRefused(c, name), signal);
  } finally {
    await c.admin.delete(ValidatingAdmissionPolicyBinding, metadata).catch(ignoreNotFound);
    await c.admin.delete(ValidatingAdmissionPolicy, metadata).catch(ignoreNotFound);
  }
}

/** Whether the policy of this name refuses its probe. */
async function isRefused(c: Cluster, name: string): Promise<boolean> {
  const metadata = { namespace: c.namespace, name, labels: { [PROBE_LABEL]: name } };
  try {
    await c.admin.create(LimitRange, { metadata, spec: { limits: [] } }, { dryRun: true });
    return false;
  } catch (error) {
    if (String(error).includes(`denied request: ${name}`)) return true;
    throw error;
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
