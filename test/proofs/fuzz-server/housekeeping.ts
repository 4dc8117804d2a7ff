import { SAMPLES, WIDGETS } from '../../support/sample-objects.ts';
import type { FuzzedServer } from './fuzzed-server.ts';
import { DEFINITIONS, NAMESPACES } from './hostile-request.ts';

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly finalizers?: readonly string[] };
}

/** createFixtures creates the namespaces and the kind that requests use, unless they exist. */
export async function createFixtures(server: FuzzedServer): Promise<void> {
  for (const name of NAMESPACES) await server.sendAsAdmin('POST', '/api/v1/namespaces', { metadata: { name } });
  await server.sendAsAdmin('POST', DEFINITIONS, WIDGETS);
  const widgets = `/apis/proof.bowline.dev/v1/namespaces/${NAMESPACES[0]}/widgets`;
  for (let attempt = 0; attempt < 1_000; attempt++) {
    if ((await server.sendAsAdmin('GET', widgets)).status === 200) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('the kind of the samples is not served');
}

/** cleanUp removes what requests created, despite finalizers, so that the server does not grow because of it. */
export async function cleanUp(server: FuzzedServer): Promise<string[]> {
  const problems: string[] = [];
  const places = SAMPLES.flatMap(({ path }) =>
    path.includes('NS') ? NAMESPACES.map((namespace) => path.replace('NS', namespace)) : [path],
  );
  for (const place of [...places, DEFINITIONS]) {
    for (const { metadata } of await listed(server, place)) {
      if (metadata.name === WIDGETS.metadata.name || !isLeftBehind(place, metadata.name)) continue;
      const path = `${place}/${encodeURIComponent(metadata.name)}`;
      if (metadata.finalizers?.some((each) => !each.startsWith('customresourcecleanup')))
        await server.sendAsAdmin('PATCH', path, { metadata: { finalizers: null } }, 'application/merge-patch+json');
      const { status, text } = await server.sendAsAdmin('DELETE', `${path}?gracePeriodSeconds=0`);
      if (status !== 200 && status !== 404) problems.push(`${path} cannot be deleted: ${text.slice(0, 300)}`);
    }
  }
  await createFixtures(server);
  return problems;
}

/** Cluster-scoped kinds have objects that belong to every cluster. */
function isLeftBehind(place: string, name: string): boolean {
  if (place.includes('/namespaces/')) return name !== 'default' && name !== 'kube-root-ca.crt';
  return !name.startsWith('system') && !['admin', 'edit', 'view', 'cluster-admin'].includes(name);
}

async function listed(server: FuzzedServer, path: string): Promise<readonly Listed[]> {
  const { status, text } = await server.sendAsAdmin('GET', path);
  return status === 200 ? (JSON.parse(text) as { items: Listed[] }).items : [];
}
