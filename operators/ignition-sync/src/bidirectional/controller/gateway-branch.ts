import { parseRef } from '../../git/address/git-ref.ts';
import { gatewayKey } from '../../protocol/gateway-key.ts';
import { renderTemplate } from '../../templates/render-template.ts';
import type { TemplateVariables } from '../../templates/template-variables.ts';

/** BranchVariables are the variables of `bidirectional.targetBranch`. */
export type BranchVariables = Pick<
  TemplateVariables,
  'gatewayName' | 'podName' | 'namespace' | 'siteNumber' | 'labels'
>;

/** GatewayBranchName is the branch of a gateway, or why it has none. */
export type GatewayBranchName = { readonly branch: string } | { readonly problem: string };

/**
 * gatewayBranch renders `bidirectional.targetBranch` for a gateway. Characters of a gateway's name that git refuses in names of branches
 * are replaced.
 */
export function gatewayBranch(template: string, variables: BranchVariables): GatewayBranchName {
  const { gatewayName = '' } = variables;
  try {
    const source = 'bidirectional.targetBranch';
    const branch = renderTemplate(template, { ...variables, gatewayName: gatewayKey(gatewayName) }, { source });
    parseRef(`refs/heads/${branch}`);
    return { branch };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'bidirectional.targetBranch is not a branch' };
  }
}
