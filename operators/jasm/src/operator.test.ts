import { permissionsOf, withConfig, withinNamespaces } from '@bowline/runtime';
import { describe, expect, it } from 'vitest';
import { config } from './config.ts';
import { jasm } from './operator.ts';
import { configOf } from './testing/config-of.test-support.ts';

/** rightsOn are the verbs on a resource in the whole cluster. */
async function rightsOn(resource: string, config: Readonly<Record<string, unknown>> = {}): Promise<readonly string[]> {
  const { cluster } = permissionsOf(await withConfig(jasm, { allowAllPaths: true, ...config }));
  return cluster.filter(({ resources }) => resources?.includes(resource)).flatMap(({ verbs }) => verbs);
}

describe('the rights of the operator', () => {
  it('has no right to delete Secrets unless deletion is allowed', async () => {
    expect(await rightsOn('secrets')).toEqual(['get', 'list', 'watch', 'create', 'patch']);
    expect(await rightsOn('secrets', { allowDeletion: true })).toContain('delete');
  });

  it.each(['deployments', 'statefulsets', 'daemonsets'])('has none on %s unless restarts are allowed', async (kind) => {
    expect(await rightsOn(kind)).toEqual([]);
    expect(await rightsOn(kind, { restart: true })).toEqual([]);
    expect(await rightsOn(kind, { allowRestart: true })).toEqual(['get', 'patch']);
  });

  it('reads pods and namespaces, and writes neither', async () => {
    expect(await rightsOn('pods')).toEqual(['get', 'list', 'watch']);
    expect(await rightsOn('namespaces')).toEqual(['get', 'list', 'watch']);
  });

  it('needs no right in the whole cluster where it is limited to namespaces', async () => {
    const { cluster, namespaces } = permissionsOf(withinNamespaces(await withConfig(jasm, { policy: [] }), ['shop']));
    expect(cluster).toEqual([]);
    expect(namespaces.shop?.flatMap(({ resources = [] }) => resources)).toEqual(['pods', 'secrets', 'events']);
  });
});

it('does not start with a rule about a provider that there is not', () => {
  const policy = [{ namespaces: ['**'], provider: 'valt', paths: ['**'] }];
  // It is refused before anything else of the context is needed.
  const context = { config: configOf(config, { policy }) } as never;
  expect(() => jasm.setup?.(context)).toThrow(
    'jasm.policy[0].provider: there is no provider "valt"; there are aws-secretsmanager, vault, azure-keyvault, kubernetes',
  );
});
