import type { Node } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import type { ProjectView } from '@bowline/runtime/cache';
import type { Config } from '../config.ts';
import type { OperandCondition } from '../operand/condition.ts';
import type { KubeletVerification } from '../spire/agent-config.ts';

/** NodeView is what the cache keeps of a Node. */
export interface NodeView {
  readonly name: string;
  readonly kubeletVersion: string;
}

/** nodeView keeps the version of kubelet. */
export const nodeView: ProjectView<Node, NodeView> = project(
  ({ metadata, status }: Node): NodeView => ({
    name: metadata?.name ?? '',
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
  }),
);

/** The first minor version of kubelet 1 that lets a client read pods without the permission to run commands in them. */
const FINE_GRAINED = 33;
const MAX_NAMED = 5;

/** kubeletAccess returns the condition about how agents reach kubelet. It does not decide whether they are ready. */
export function kubeletAccess(
  nodes: readonly NodeView[],
  { kubeletAuthorization }: Pick<Config, 'kubeletAuthorization'>,
  verification: KubeletVerification,
): OperandCondition {
  const type = 'KubeletAccess';
  const old =
    kubeletAuthorization === 'pods'
      ? nodes
          .filter(isTooOld)
          .map(({ name }) => name)
          .sort()
      : [];
  if (old.length > 0) {
    const named = old.slice(0, MAX_NAMED).join(', ');
    const message = `kubelet does not know the permission nodes/pods before 1.33, on ${old.length} nodes (${named}); upgrade them, or change the setting kubeletAuthorization to proxy`;
    return { type, status: false, reason: 'KubeletTooOld', message };
  }
  return verification.type === 'skip'
    ? {
        type,
        status: true,
        reason: 'Unverified',
        message: 'the certificates of kubelet are not verified; see workloadAttestorsVerification',
      }
    : { type, status: true, reason: 'Verified', message: 'the certificates of kubelet are verified' };
}

/** An unknown version counts as new enough. */
function isTooOld({ kubeletVersion }: NodeView): boolean {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(kubeletVersion) ?? [];
  return major === '1' && Number(minor) < FINE_GRAINED;
}
