import type { CelEnvironment, VariableDeclaration } from '@bowline/machinery/cel';
import { celEngine } from './cel-engine.ts';

/** PolicyTypes describes the variables of a policy. */
export interface PolicyTypes {
  /** The type of the objects in the request. Defaults to `dyn`. */
  readonly object?: VariableDeclaration | undefined;
  /** Undefined for a policy without parameters. */
  readonly params?: VariableDeclaration | undefined;
  /** Whether the policy has variables of its own. */
  readonly hasDefinitions?: boolean | undefined;
}

/**
 * policyEnvironment returns the environment of the expressions of an admission policy; the CEL engine must be loaded.
 * It gives access to the request like the match conditions of webhooks.
 */
export function policyEnvironment({ object = 'dyn', params, hasDefinitions }: PolicyTypes): CelEnvironment {
  const { CelEnvironment, policyVariables } = celEngine();
  const variables = { ...policyVariables, object, oldObject: object, ...(params === undefined ? {} : { params }) };
  return new CelEnvironment({ variables, hasBind: false, hasDefinitions });
}

/** NO_AUTHORIZER excludes the authorizer: messages cannot check permissions. */
export const NO_AUTHORIZER = { without: ['authorizer'] };
