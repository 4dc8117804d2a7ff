import { fileURLToPath } from 'node:url';
import { cluster } from '@bowline/control-plane/testing';
import { describe, expect, it } from 'vitest';
import { differingInputs, fetchInputs, readInputs } from './inputs.ts';
import { createModel } from './model.ts';
import { apiPath, COVERED, moduleName } from './modules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the committed OpenAPI input', () => {
  it('matches the server', async (context) => {
    await using c = await cluster();
    const committed = await readInputs(root);
    const server = await fetchInputs((path) => c.admin.raw(path));
    // The API of another minor version differs by design.
    context.skip(minor(server.version) !== minor(committed.version), `the server is ${server.version}`);
    expect(differingInputs(committed, server), 'run npm run generate -- --fetch').toEqual([]);
  });

  it('produces the kinds, plurals and scopes that discovery lists', async (context) => {
    await using c = await cluster();
    const model = createModel(await readInputs(root));
    const { gitVersion } = JSON.parse(await c.admin.raw('/version')) as { gitVersion: string };
    context.skip(minor(gitVersion) !== minor(model.version), `the server is ${gitVersion}`);
    for (const covered of COVERED) {
      const { resources } = JSON.parse(await c.admin.raw(`/${apiPath(covered)}`)) as DiscoveryList;
      const listed = resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ kind, name, namespaced }) => `${kind} ${name} ${namespaced ? 'Namespaced' : 'Cluster'}`);
      const generated = [...model.resources(moduleName(covered)).values()].map(
        ({ kind, plural, scope }) => `${kind} ${plural} ${scope}`,
      );
      expect(generated.sort(), apiPath(covered)).toEqual(listed.sort());
    }
  });
});

interface DiscoveryList {
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly namespaced: boolean }[];
}

function minor(version: string): string {
  return version.split('.', 2).join('.');
}
