import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Cache } from '../cache/cache.ts';
import type { Source } from '../controller/sources.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Operator } from '../operator/operator.ts';
import type { ServiceContext, ServiceInformerOptions, ServiceView } from '../operator/service.ts';
import { resolveOwnName } from '../permissions/own-names.ts';

/** ServiceInformersOptions holds the cache of an operator and the name of its install. */
export interface ServiceInformersOptions {
  readonly cache: Pick<Cache, 'informer'>;
  /** For selectors with a placeholder for the name of an object of the install. */
  readonly installName: string;
}

/**
 * serviceInformers returns the `informer` of the services of an operator. It reads the operator's own cache: the kinds,
 * namespaces and selectors that its controllers and webhooks declare, so that a service needs no further permission and
 * usually no further watch.
 */
export function serviceInformers(
  operator: Pick<Operator, 'name' | 'controllers' | 'webhooks'>,
  { cache, installName }: ServiceInformersOptions,
): ServiceContext['informer'] {
  const sources = [...operator.controllers, ...operator.webhooks].flatMap((declared): readonly Source[] =>
    declared.sources.filter(({ isOmitted }) => !isOmitted),
  );
  return <T extends KubernetesObject, Id extends string, const V extends ServiceView<T> = 'full'>(
    resource: Resource<T, Id>,
    // Without a view, V is the view `full`.
    { view = 'full' as V, labelSelector, ...selected }: ServiceInformerOptions<V> = {},
  ) => {
    const fieldSelector =
      selected.fieldSelector === undefined ? undefined : resolveOwnName(selected.fieldSelector, installName);
    const declared = sources.filter(
      (source) =>
        source.resource.id === resource.id &&
        source.labelSelector === labelSelector &&
        source.fieldSelector === fieldSelector,
    );
    const source = declared.find((each) => each.view === view) ?? declared[0];
    if (source) {
      const { namespaces, optional } = source;
      return cache.informer<T, Id, V>(resource, { view, namespaces, labelSelector, fieldSelector, optional });
    }
    throw new BowlineError(
      'BOWLINE_SOURCE_UNDECLARED',
      `cannot read ${resource.id} in a service of the operator ${operator.name}: none of its controllers and webhooks watches this kind with the same selectors in the namespaces of the manager; declare it there, or read it with the client`,
    );
  };
}
