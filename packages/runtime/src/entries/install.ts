// The entry of `@bowline/runtime/install`: the parts of an operator's installation: definitions, RBAC and webhook
// configurations.
export {
  MANAGED_BY,
  type OperatorId,
  type OperatorIdentity,
  operatorIdentity,
} from '../identity/operator-identity.ts';
export { type AppliedCompanion, applyCompanions } from '../operator/apply-companions.ts';
export { type AppliedNamespace, applyInstallNamespaces } from '../operator/apply-install-namespaces.ts';
export type { CompanionContent, CompanionDeclaration } from '../operator/companion.ts';
export { type CompanionManifest, type CompanionOptions, companionManifests } from '../operator/companion-manifests.ts';
export type { CreatedWorkloads } from '../operator/created-workloads.ts';
export { type PermissionsOptions, permissionsOf, type WebhookMode } from '../operator/declared-permissions.ts';
export { type InstalledDependency, installDependencies } from '../operator/install-dependencies.ts';
export { installNamespaceManifests } from '../operator/install-namespace-manifests.ts';
export type { ConfigParser, ConfigSchema, OperatorConfig } from '../operator/operator-config.ts';
export { type RbacManifest, type RbacOptions, rbacManifests } from '../operator/rbac-manifests.ts';
export { withConfig } from '../operator/with-config.ts';
export { withinNamespaces } from '../operator/within-namespaces.ts';
export type { AllowOptions, Verb } from '../permissions/permission.ts';
export type { PermissionRules } from '../permissions/rules.ts';
export { customResourceDefinition } from '../resource/custom-resource.ts';
export {
  type InstalledDefinition,
  type InstallOptions,
  installCustomResourceDefinitions,
} from '../resource/install-crds.ts';
export {
  type ConfigurationOptions,
  type ServiceAddress,
  type WebhookAddress,
  type WebhookConfigurations,
  webhookConfigurations,
} from '../webhook/configurations.ts';
