import { type KubernetesObject, keyOf } from '@bowline/kubernetes';
import { type Scope, scopeOf } from '../cache/scope.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { describeKey } from '../writing/describe-object.ts';
import type { WriteCheck } from '../writing/guarded-create.ts';
import type { Source } from './sources.ts';

/**
 * declaredScopeCheck rejects a child that `owns` would not select: its events would never cause a run, and the cache
 * would not know that it exists.
 */
export function declaredScopeCheck(sources: readonly Source[]): WriteCheck {
  const scopes = new Map<string, Scope[]>();
  for (const { role, resource, namespaces, labelSelector, fieldSelector } of sources) {
    if (role !== 'owns') continue;
    const known = scopes.get(resource.id) ?? [];
    scopes.set(resource.id, [...known, scopeOf(resource, { namespaces, labelSelector, fieldSelector })]);
  }
  return (verb, resource, desired) => {
    const declared = scopes.get(resource.id);
    if (!declared || declared.some((scope) => selects(scope, desired))) return;
    throw new BowlineError(
      'BOWLINE_OUTSIDE_SELECTOR',
      `cannot ${verb} ${describeKey(resource, keyOf(desired))}: .owns(${resource.kind}) selects ${declared.map(describe).join(' or ')}, which it does not match, so its changes would not be observed; make the object match the selector, or widen the selector`,
    );
  };
}

function selects(scope: Scope, desired: KubernetesObject): boolean {
  return scope.covers(keyOf(desired)) && scope.matches(desired);
}

function describe({ labelSelector, fieldSelector, namespaces }: Scope): string {
  const parts = [
    labelSelector && `labels ${labelSelector}`,
    fieldSelector && `fields ${fieldSelector}`,
    namespaces && `namespaces ${namespaces.join(', ')}`,
  ];
  return parts.filter(Boolean).join(' and ');
}
