import { Lease, type Resource } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import type { Controller, WriteDeclaration } from '../controller/controller.ts';
import type { Source } from '../controller/sources.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { installNamespaceId } from '../permissions/install-namespaces.ts';
import { OWN_NAMESPACE, type Permission, permission } from '../permissions/permission.ts';
import { type PermissionRules, permissionsFrom, rulesOf } from '../permissions/rules.ts';
import { selectedName } from '../permissions/selected-name.ts';
import { isCustomResource } from '../resource/custom-resource.ts';
import { type WebhookRulesOptions, webhookRules } from '../webhook/webhook-rules.ts';
import type { Operator } from './operator.ts';
import { withOwnNames } from './with-own-names.ts';

/** The verbs that a cache, and live reads of its objects, need. */
const READ = ['get', 'list', 'watch'];

/** WebhookMode configures who manages certificates and configurations of webhooks: the required rights differ. */
export type WebhookMode = Pick<WebhookRulesOptions, 'certificates' | 'configurations'>;

/** PermissionsOptions configures the install that permissions are for. */
export interface PermissionsOptions extends WebhookMode {
  /** The name of the install's objects; see `RbacOptions.name`. Defaults to `<vendor>-<operator>`. */
  readonly installName?: string | undefined;
}

/**
 * declaredPermissions returns all permissions of an operator: those that its declarations imply, and those that
 * `permissions` adds. If they depend on the configuration, pass the operator that `withConfig` returns; else it throws
 * BOWLINE_OPERATOR_UNCONFIGURED.
 */
export function declaredPermissions(operator: Operator, options: PermissionsOptions = {}): readonly Permission[] {
  const named = withOwnNames(operator, options.installName);
  const permissions = [
    ...leasePermissions(operatorIdentity(operator).objectName),
    ...named.controllers.flatMap(controllerPermissions),
    ...webhookPermissions(named, options),
    ...permissionsIn(named).filter(({ only }) => only !== 'namespaces'),
  ];
  const isOpen = permissions.some(({ namespaces }) => namespaces?.some((each) => installNamespaceId(each)));
  if (isOpen) throw unconfigured(operator);
  return permissions;
}

function permissionsIn(operator: Operator): readonly Permission[] {
  const { permissions } = operator;
  if (typeof permissions === 'function') throw unconfigured(operator);
  return permissions;
}

function unconfigured({ name }: Operator): BowlineError {
  return new BowlineError(
    'BOWLINE_OPERATOR_UNCONFIGURED',
    `cannot determine the permissions of the operator ${name}: they depend on its configuration; provide it with withConfig(operator, section)`,
  );
}

/**
 * permissionsOf returns the RBAC rules of an operator, merged and in a fixed order.
 *
 * @example
 * const { cluster, own } = permissionsOf(pages);
 */
export function permissionsOf(operator: Operator, options: PermissionsOptions = {}): PermissionRules {
  return rulesOf(declaredPermissions(operator, options));
}

/** Returns the permissions for the certificate, the configurations, and the objects that handlers read. */
function webhookPermissions(
  { name, domain, webhooks }: Operator,
  { certificates, configurations, installName: configurationName }: PermissionsOptions,
): readonly Permission[] {
  if (webhooks.length === 0) return [];
  const given = { certificates, configurations, configurationName };
  const { cluster, namespaced } = webhookRules({ operator: name, domain, webhooks, ...given });
  return [
    ...permissionsFrom(cluster),
    ...permissionsFrom(namespaced, [OWN_NAMESPACE]),
    ...webhooks.flatMap(({ sources }) => sources.flatMap(readPermissions)),
  ];
}

function readPermissions(source: Source): readonly Permission[] {
  const { resource, namespaces, isOmitted } = source;
  return isOmitted ? [] : [permission(READ, resource, { namespaces, names: namesIn(source) })];
}

function namesIn({ fieldSelector }: Source): readonly string[] | undefined {
  const name = selectedName(fieldSelector);
  return name === undefined ? undefined : [name];
}

function leasePermissions(lease: string): readonly Permission[] {
  const namespaces = [OWN_NAMESPACE];
  return [
    permission(['get', 'update'], Lease, { names: [lease], namespaces }),
    // RBAC cannot restrict a creation to a name: the name is in the body.
    permission(['create'], Lease, { namespaces }),
  ];
}

function controllerPermissions(controller: Controller): readonly Permission[] {
  const { sources, writes, reports } = controller;
  const primary = sources.find(({ role }) => role === 'primary');
  return [
    ...sources.flatMap(readPermissions),
    ...writes.flatMap(writePermissions),
    ...reports.map(({ resource, namespaces }) => eventPermission(resource, namespaces)),
    ...(primary ? primaryPermissions(controller, primary) : []),
  ];
}

function writePermissions({ verb, resource, remove, namespaces, names }: WriteDeclaration): readonly Permission[] {
  const verbs = ['get', 'patch', ...(remove ? ['delete'] : [])];
  // `apply` creates by a patch, which the API server authorizes as a creation with the name of the URL. `ensure` sends
  // a POST, which has no name.
  return verb === 'apply'
    ? [permission([...verbs, 'create'], resource, { namespaces, names })]
    : [permission(verbs, resource, { namespaces, names }), permission(['create'], resource, { namespaces })];
}

/** A controller whose source selects a single object writes only that one. */
function primaryPermissions(controller: Controller, source: Source): readonly Permission[] {
  const { resource, namespaces } = source;
  const scope = { namespaces, names: namesIn(source) };
  const permissions = [eventPermission(resource, namespaces)];
  if (isCustomResource(resource) && resource.hasStatus) {
    permissions.push(permission(['patch'], resource, { ...scope, subresource: 'status' }));
  }
  // The finalizer is part of the object's metadata.
  if (controller.finalization) permissions.push(permission(['patch'], resource, scope));
  // A cluster may require this right of a client that makes an object the blocking owner of another, as `apply` does.
  if (controller.writes.some(({ verb }) => verb === 'apply')) {
    permissions.push(permission(['update'], resource, { ...scope, subresource: 'finalizers' }));
  }
  return permissions;
}

/** Events about cluster-scoped objects are stored in `default`. */
function eventPermission(resource: Resource, namespaces: Source['namespaces']): Permission {
  return permission(['create', 'patch'], Event, {
    namespaces: resource.scope === 'Cluster' ? ['default'] : namespaces,
  });
}
