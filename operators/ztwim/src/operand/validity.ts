import { dnsSubdomainProblems } from '@bowline/machinery';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Config } from '../config.ts';
import { AGENT, CONTROLLER_MANAGER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import type { OperandCondition } from './condition.ts';

/** Problem is why a configuration that the schemas accept cannot be used. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** validity returns the condition ConfigurationValid: the first problem decides. */
export function validity(...problems: readonly (Problem | undefined)[]): OperandCondition {
  const type = 'ConfigurationValid';
  const problem = problems.find((each) => each !== undefined);
  if (problem) return { type, status: false, ...problem };
  return { type, status: true, reason: 'ConfigurationValid', message: 'the configuration can be used' };
}

/** namespaceProblem returns what is wrong with the namespaces in the ZeroTrustWorkloadIdentityManager. */
export function namespaceProblem(
  { spec }: ZeroTrustWorkloadIdentityManager,
  { operandNamespace }: Pick<Config, 'operandNamespace'>,
): Problem | undefined {
  const fields = { namespace: spec.namespace, 'bundleConfig.namespace': spec.bundleConfig?.namespace };
  for (const [field, namespace] of Object.entries(fields)) {
    if (namespace === undefined || namespace === operandNamespace) continue;
    return {
      reason: 'NamespaceMismatch',
      message: `ZeroTrustWorkloadIdentityManager.spec.${field} is "${namespace}", but the operands run in "${operandNamespace}"; remove the field, or change the setting operandNamespace of the operator`,
    };
  }
  return undefined;
}

/** jwtIssuerProblem returns what is wrong with the issuer of JWT-SVIDs. */
export function jwtIssuerProblem(jwtIssuer: string): Problem | undefined {
  const refuse = (problem: string): Problem => ({
    reason: 'InvalidJWTIssuer',
    message: `jwtIssuer ${problem}; set an http or https URL such as https://oidc.example.org`,
  });
  if (!URL.canParse(jwtIssuer)) return refuse('is not a URL');
  const { username, password, search, hash, hostname } = new URL(jwtIssuer);
  // The URL may contain a password, so the message does not repeat it.
  if (username !== '' || password !== '') return refuse('contains a user name or password');
  if (search !== '' || hash !== '') return refuse('has a query or a fragment');
  if (dnsSubdomainProblems(hostname).length > 0) {
    return refuse(`has the host "${hostname}", which is not a DNS name`);
  }
  return undefined;
}

const OWN_CONFIG_MAPS: ReadonlySet<string> = new Set([SERVER, CONTROLLER_MANAGER, AGENT, OIDC_PROVIDER]);

/** bundleProblem returns what is wrong with the name of the bundle. */
export function bundleProblem(bundleConfigMap: string): Problem | undefined {
  if (!OWN_CONFIG_MAPS.has(bundleConfigMap)) return undefined;
  return {
    reason: 'InvalidConfiguration',
    message: `the bundle cannot be stored in the ConfigMap ${bundleConfigMap}, which contains a configuration file; choose another name, such as spire-bundle`,
  };
}

/** federationProblem returns what is wrong with the trust domains that a server federates with. */
export function federationProblem(
  peers: readonly { readonly trustDomain: string }[] | undefined,
  trustDomain: string,
): Problem | undefined {
  if (!peers?.some((peer) => peer.trustDomain === trustDomain)) return undefined;
  return {
    reason: 'InvalidFederation',
    message: `federation.federatesWith contains the trust domain ${trustDomain}, which is that of this server; remove it`,
  };
}
