import type { Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Permission } from './permission.ts';

/** Attempt is a request that needs a permission. */
export interface Attempt {
  readonly verb: string;
  readonly kind: Resource;
  readonly subresource?: string | undefined;
  /** Undefined: in all namespaces, or none. */
  readonly namespace?: string | undefined;
  /** Undefined: a whole collection, or an object that has no name yet. */
  readonly name?: string | undefined;
}

/** undeclaredPermission returns the error for a request that nothing declares; it explains what to declare. */
export function undeclaredPermission(
  operator: string,
  attempt: Attempt,
  narrower: readonly Permission[],
): BowlineError {
  const { verb, kind, subresource, namespace, name } = attempt;
  const what = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  const where = namespace ? ` in namespace ${namespace}` : kind.scope === 'Namespaced' ? ' in all namespaces' : '';
  const options = subresource === undefined ? '' : `, { subresource: '${subresource}' }`;
  // A declaration by name covers a creation by server-side apply, but not one by POST: the name is in the body.
  const isNameless =
    verb === 'create' && subresource === undefined && narrower.some(({ names }) => names !== undefined);
  const nameless = isNameless ? ', because RBAC cannot restrict createOnce and create to names' : '';
  const exactly = `add allow(['${verb}'], ${kind.kind}${options}) to the operator's permissions${nameless}`;
  const better = subresource === undefined && !isNameless ? declarationFor(verb, kind.kind) : undefined;
  return new BowlineError(
    'BOWLINE_UNDECLARED_PERMISSION',
    `the operator ${operator} does not declare that it may ${verb} ${what}${name ? ` ${name}` : ''}${where}${limitsOf(narrower)}: ${better ? `${better}, or ${exactly}` : exactly}`,
  );
}

function declarationFor(verb: string, kind: string): string | undefined {
  if (verb === 'get' || verb === 'list' || verb === 'watch') {
    return `declare .owns(${kind}) or .watches(${kind}, …) on a controller`;
  }
  if (verb === 'create' || verb === 'patch') {
    return `declare .owns(${kind}), .applies(${kind}) or .ensures(${kind}) on a controller and write with ctx.apply or ctx.ensure`;
  }
  if (verb === 'delete') return `declare .owns(${kind}, { remove: true }) on a controller and use ctx.remove`;
  return undefined;
}

function limitsOf(narrower: readonly Permission[]): string {
  const names = [...new Set(narrower.flatMap((each) => each.names ?? []))].sort();
  const namespaces = [...new Set(narrower.flatMap((each) => each.namespaces ?? []))].sort();
  const limits = [
    ...(names.length === 0 ? [] : [`for the names ${names.join(', ')}`]),
    ...(namespaces.length === 0 ? [] : [`in the namespaces ${namespaces.join(', ')}`]),
  ];
  return limits.length === 0 ? '' : ` (only ${limits.join(' and ')})`;
}
