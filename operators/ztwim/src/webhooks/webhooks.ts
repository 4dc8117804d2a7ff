import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { admitChanged, mutating, validating } from '@bowline/runtime';
import type { Webhook } from '@bowline/runtime/webhook';
import type { OperandKind } from '../api/operand-kinds.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Config } from '../config.ts';
import type { Deps } from '../deps.ts';
import type { ReviewedKind } from '../metrics.ts';
import type { OperandOf, SharedObjects } from '../operand/shared-objects.ts';
import { readSingletons } from '../operand/singletons.ts';
import type { SharingKind } from '../resolve/shared-config.ts';
import { inherit } from './inherit.ts';
import { deprecationWarnings, mismatchWarnings, serverWarnings } from './operand-warnings.ts';
import { type Change, type Review, respondTo } from './review.ts';
import { reviewConfig } from './review-config.ts';
import { reviewOperand } from './review-operand.ts';

/** The part of the operator's dependencies that the webhooks need. */
type ReviewDeps = Pick<Deps, 'config' | 'metrics'>;

/** Metadata, finalizers, status and deletions never depend on the operator. */
const CHANGED_SPECS = {
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    { name: 'spec-changed', expression: "request.operation == 'CREATE' || object.spec != oldObject.spec" },
    { name: 'not-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
  ],
  timeoutSeconds: 5,
} as const;

type ReviewOf<T> = (change: Change<T>, objects: SharedObjects, config: Config) => Review;

/** What is refused here, controllers would hold. */
function reviewing<T extends KubernetesObject>(
  kind: Resource<T>,
  name: string,
  review: ReviewOf<T>,
): Webhook<ReviewDeps> {
  return validating(kind, { ...CHANGED_SPECS, name, failurePolicy: 'Fail' })
    .using<ReviewDeps>()
    .reads(ZeroTrustWorkloadIdentityManager)
    .reads(SpireServer)
    .reads(SpireAgent)
    .reads(SpiffeCSIDriver)
    .reads(SpireOIDCDiscoveryProvider)
    .handle((request) => {
      const change = { before: request.oldObject, after: request.object };
      const { config, metrics } = request.deps;
      return respondTo(
        request,
        (objects) => review(change, objects, config),
        (problems) =>
          metrics.denied(
            kind.kind as ReviewedKind,
            problems.map(({ field }) => field),
          ),
      );
    });
}

/** operandReview returns the review of an operand, with further warnings. */
function operandReview<K extends OperandKind>(
  kind: K,
  warningsOf: (change: Change<OperandOf<K>>) => readonly string[] = () => [],
): ReviewOf<OperandOf<K>> {
  return (change, objects) => {
    const { problems, warnings } = reviewOperand(kind, change, objects);
    return { problems, warnings: [...warnings, ...warningsOf(change), ...mismatchWarnings(kind, change, objects)] };
  };
}

/** The controller does the same, so that requests do not depend on this. */
function inheriting<K extends SharingKind>(
  kind: K,
  resource: Resource<OperandOf<K>>,
  name: string,
): Webhook<ReviewDeps> {
  return mutating(resource, { ...CHANGED_SPECS, name, failurePolicy: 'Ignore' })
    .using<ReviewDeps>()
    .reads(ZeroTrustWorkloadIdentityManager)
    .reads(SpireServer)
    .reads(SpireAgent)
    .reads(SpiffeCSIDriver)
    .reads(SpireOIDCDiscoveryProvider)
    .handle((request) => {
      const { object, oldObject } = request;
      // Afterwards, a copy that equals the inherited value no longer looks like the user's.
      const warnings = deprecationWarnings(kind, { before: oldObject, after: object });
      return admitChanged(inherit(kind, object, readSingletons(request)), { warnings });
    });
}

/** webhooks review changed specs of the five kinds, and fill in what operands inherit. */
export const webhooks: readonly Webhook<ReviewDeps>[] = [
  inheriting('SpireServer', SpireServer, 'server-inherit'),
  inheriting('SpireAgent', SpireAgent, 'agent-inherit'),
  inheriting('SpireOIDCDiscoveryProvider', SpireOIDCDiscoveryProvider, 'oidc-inherit'),
  reviewing(ZeroTrustWorkloadIdentityManager, 'config-review', (change, { operands }, { operandNamespace }) =>
    reviewConfig(change, operands, operandNamespace),
  ),
  reviewing(SpireServer, 'server-review', operandReview('SpireServer', serverWarnings)),
  reviewing(SpireAgent, 'agent-review', operandReview('SpireAgent')),
  reviewing(SpiffeCSIDriver, 'csi-review', operandReview('SpiffeCSIDriver')),
  reviewing(SpireOIDCDiscoveryProvider, 'oidc-review', operandReview('SpireOIDCDiscoveryProvider')),
];
