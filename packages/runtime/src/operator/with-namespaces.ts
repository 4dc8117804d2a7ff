import type { Controller } from '../controller/controller.ts';
import type { Source } from '../controller/sources.ts';
import type { Permission } from '../permissions/permission.ts';
import type { Webhook } from '../webhook/webhook.ts';

/** ResolveNamespace returns the namespace that a placeholder stands for, and any other name unchanged. */
export type ResolveNamespace = (namespace: string) => string;

interface Declared {
  readonly namespaces?: readonly string[] | undefined;
}

/** withNamespaces returns a declaration, for example a permission, whose placeholders for namespaces are replaced. */
export function withNamespaces<D extends Declared>(declared: D, resolve: ResolveNamespace): D {
  const { namespaces } = declared;
  // A setting may name a namespace that is declared too.
  return namespaces === undefined ? declared : { ...declared, namespaces: [...new Set(namespaces.map(resolve))] };
}

/** withControllerNamespaces returns a controller whose placeholders for namespaces are replaced. */
export function withControllerNamespaces<C extends Pick<Controller, 'sources' | 'writes' | 'reports'>>(
  controller: C,
  resolve: ResolveNamespace,
): C {
  return Object.freeze({
    ...withSourceNamespaces(controller, resolve),
    writes: controller.writes.map((write) => withNamespaces(write, resolve)),
    reports: controller.reports.map((report) => withNamespaces(report, resolve)),
  });
}

/** withSourceNamespaces returns a webhook, or another declaration with sources, whose placeholders are replaced. */
export function withSourceNamespaces<D extends { readonly sources: readonly Source[] }>(
  declared: D,
  resolve: ResolveNamespace,
): D {
  return Object.freeze({ ...declared, sources: declared.sources.map((source) => withNamespaces(source, resolve)) });
}

/** declaredNamespaces returns all namespaces, and placeholders for them, that parts of an operator name. */
export function declaredNamespaces(
  controllers: readonly Controller[],
  webhooks: readonly Webhook[],
  permissions: readonly Permission[],
): ReadonlySet<string> {
  const declared: readonly Declared[] = [
    ...controllers.flatMap(({ sources, writes, reports }) => [...sources, ...writes, ...reports]),
    ...webhooks.flatMap(({ sources }) => sources),
    ...permissions,
  ];
  return new Set(declared.flatMap(({ namespaces }) => namespaces ?? []));
}
