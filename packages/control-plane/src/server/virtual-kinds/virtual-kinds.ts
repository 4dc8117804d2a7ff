import { schemaFor } from '@bowline/kubernetes/schemas';
import { builtInShape } from '@bowline/machinery';
import type { ApiResource, ComputeResponse } from '../registry/api-resource.ts';
import { builtInStrategy } from '../registry/built-in-strategy.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * serveVirtualKinds makes the registry compute the responses of kinds, by group and plural: otherwise they would be
 * stored like others.
 */
export function serveVirtualKinds(
  registry: Registry,
  kinds: Readonly<Record<string, Readonly<Record<string, ComputeResponse>>>>,
): void {
  const resources = Object.entries(kinds).flatMap(([group, computeByPlural]) =>
    Object.entries(computeByPlural).map(
      ([plural, computeResponse]): ApiResource => ({ ...served(registry, group, plural), computeResponse }),
    ),
  );
  registry.set(...resources);
}

/** serveTokenRequests makes the registry issue tokens of ServiceAccounts. */
export function serveTokenRequests(
  registry: Registry,
  computeResponse: ComputeResponse,
  applyDefaults: ApiResource['strategy']['applyDefaults'],
): void {
  const accounts = served(registry, '', 'serviceaccounts');
  const part = accounts.subresources.get('token');
  const [group, version, kind] = ['authentication.k8s.io', 'v1', 'TokenRequest'];
  const schema = schemaFor(`${group}/${version}`, kind);
  if (!part || !schema)
    throw new TypeError('the registry does not contain the built-in subresource serviceaccounts/token');
  const creates: ApiResource = {
    ...accounts,
    group,
    version,
    kind,
    listKind: `${kind}List`,
    verbs: ['create'],
    subresources: new Map(),
    strategy: { ...builtInStrategy(kind, version, schema), applyDefaults },
    computeResponse,
    shape: builtInShape(`${group}/${version}`, kind),
    schema,
    columns: undefined,
    selectableFields: new Map(),
  };
  registry.set({ ...accounts, subresources: new Map([...accounts.subresources, ['token', { ...part, creates }]]) });
}

function served(registry: Registry, group: string, plural: string): ApiResource {
  const resource = registry.find(group, 'v1', plural);
  if (!resource)
    throw new TypeError(
      `the registry does not contain the built-in resource ${plural} of API group ${JSON.stringify(group)}`,
    );
  return resource;
}
