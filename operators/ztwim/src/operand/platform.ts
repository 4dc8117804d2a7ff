import type { Deps } from '../deps.ts';
import { Route } from '../third-party/route.ts';
import type { Platform } from './acting.ts';

/** isOpenShift reports whether the cluster is OpenShift: as configured, or because it serves Routes. */
export function isOpenShift({
  deps,
  isServed,
}: {
  readonly deps: Deps;
  isServed(kind: typeof Route): boolean;
}): boolean {
  const { platform } = deps.config;
  return platform === 'auto' ? isServed(Route) : platform === 'openshift';
}

/** platformOf returns what objects follow from besides the five objects. */
export function platformOf(context: { readonly deps: Deps; isServed(kind: typeof Route): boolean }): Platform {
  return { config: context.deps.config, isOpenShift: isOpenShift(context) };
}
