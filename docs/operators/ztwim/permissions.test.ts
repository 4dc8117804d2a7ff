import { readFileSync } from 'node:fs';
import { permissionsOf, withConfig } from '@bowline/runtime/install';
import { ztwim } from '@bowline/ztwim';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('./permissions.md', import.meta.url), 'utf8');

/** documented returns the permissions in the table of a section, one entry for each resource and verb. */
function documented(heading: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${heading}\n`);
  const rows = [...(text.split('\n## ')[0] ?? '').matchAll(/^\| .*`.* \|$/gm)].map(([row]) => row.split(/ ?\| ?/));
  return rows.flatMap(([, group = '', resources = '', names = '', verbs = '']) =>
    entries({ apiGroups: [quoted(group)[0] ?? ''], resources: quoted(resources), names: quoted(names) }, verbs),
  );
}

function quoted(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

function entries(
  rule: { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; names: readonly string[] },
  verbs: string,
): readonly string[] {
  const { apiGroups, resources, names } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs
        .split(', ')
        .map((verb) => `${verb} ${resource} of "${group}" named ${[...names].sort().join() || 'anything'}`),
    ),
  );
}

type Rules = ReturnType<typeof permissionsOf>['cluster'];

function declared(rules: Rules = []): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames = [], verbs }) =>
    entries({ apiGroups, resources, names: resourceNames }, verbs.join(', ')),
  );
}

it('the page lists exactly the permissions of the operator', async () => {
  const { cluster, own, namespaces } = permissionsOf(await withConfig(ztwim, {}));
  const operands = namespaces['zero-trust-workload-identity-manager'];
  expect(documented('In the cluster').toSorted()).toEqual(declared(cluster).toSorted());
  expect(documented('In the namespace of the operands').toSorted()).toEqual(declared(operands).toSorted());
  expect(documented('In the namespace of the operator').toSorted()).toEqual(declared(own).toSorted());
  expect(Object.keys(namespaces).sort()).toEqual(['default', 'zero-trust-workload-identity-manager']);
});

it('agents have the permission that the setting names', async () => {
  const { cluster } = permissionsOf(await withConfig(ztwim, { kubeletAuthorization: 'proxy' }));
  const ofNodes = declared(cluster).filter((entry) => entry.includes(' nodes/'));
  expect(ofNodes).toEqual(['get nodes/proxy of "" named anything']);
});
