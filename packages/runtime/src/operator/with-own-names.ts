import type { Source } from '../controller/sources.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { resolveOwnName } from '../permissions/own-names.ts';
import type { Permission } from '../permissions/permission.ts';
import type { Operator } from './operator.ts';

/**
 * withOwnNames returns an operator whose sources and permissions name the objects of an install, in place of the
 * placeholders for them: OWN_WEBHOOKS and the names of companions. The install's name defaults to `<vendor>-<operator>`.
 */
export function withOwnNames(
  operator: Operator,
  installName: string = operatorIdentity(operator).objectName,
): Operator {
  const { permissions } = operator;
  const resolved = (given: readonly Permission[]) => given.map((each) => resolvedPermission(each, installName));
  return Object.freeze({
    ...operator,
    controllers: operator.controllers.map((controller) => withResolvedSources(controller, installName)),
    webhooks: operator.webhooks.map((webhook) => withResolvedSources(webhook, installName)),
    permissions:
      typeof permissions === 'function' ? (config: never) => resolved(permissions(config)) : resolved(permissions),
  });
}

function withResolvedSources<D extends { readonly sources: readonly Source[] }>(declared: D, installName: string): D {
  const sources = declared.sources.map((source) => {
    const { fieldSelector } = source;
    return fieldSelector === undefined
      ? source
      : { ...source, fieldSelector: resolveOwnName(fieldSelector, installName) };
  });
  return Object.freeze({ ...declared, sources });
}

function resolvedPermission(permission: Permission, installName: string): Permission {
  const { names } = permission;
  return names === undefined
    ? permission
    : { ...permission, names: names.map((name) => resolveOwnName(name, installName)) };
}
