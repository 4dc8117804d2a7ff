import type { FuzzedServer } from './fuzzed-server.ts';

interface ObjectRead {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

interface ListRead {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ObjectRead[];
}

/** checkStorage reads every stored object by name and returns their number and what is wrong with them. */
export async function checkStorage(
  server: FuzzedServer,
): Promise<{ readonly objects: number; readonly problems: string[] }> {
  const problems: string[] = [];
  const versions = new Map<string, string>();
  const uids = new Map<string, string>();
  let objects = 0;
  for (const { root, resource } of await collections(server)) {
    const { status, text } = await server.sendAsAdmin('GET', `${root}/${resource}`);
    if (status !== 200) {
      problems.push(`${root}/${resource} cannot be listed: ${text.slice(0, 200)}`);
      continue;
    }
    const list = JSON.parse(text) as ListRead;
    for (const item of list.items) {
      objects++;
      const { name, namespace, uid, resourceVersion } = item.metadata;
      const within = namespace === undefined ? root : `${root}/namespaces/${namespace}`;
      const path = `${within}/${resource}/${encodeURIComponent(name)}`;
      if (BigInt(resourceVersion) > BigInt(list.metadata.resourceVersion))
        problems.push(`${path} is newer than the list that contains it`);
      // Events are served by two groups: then it is the same object.
      const other = versions.get(resourceVersion);
      if (other !== undefined && uids.get(uid) !== other) problems.push(`${path} and ${other} have the same version`);
      versions.set(resourceVersion, path);
      uids.set(uid, path);
      const read = await server.sendAsAdmin('GET', path);
      if (read.status !== 200) problems.push(`${path} is listed but reading it returns ${read.status}`);
      else if (content(JSON.parse(read.text)) !== content(item))
        problems.push(`${path} is listed with different content`);
    }
  }
  return { objects, problems };
}

/** Items of lists have no apiVersion and kind. */
function content(object: unknown): string {
  return JSON.stringify({ ...(object as object), apiVersion: undefined, kind: undefined });
}

async function collections(
  server: FuzzedServer,
): Promise<readonly { readonly root: string; readonly resource: string }[]> {
  const { text } = await server.sendAsAdmin('GET', '/apis');
  const { groups } = JSON.parse(text) as { groups: { versions: { groupVersion: string }[] }[] };
  const roots = ['/api/v1', ...groups.flatMap(({ versions }) => versions.map((each) => `/apis/${each.groupVersion}`))];
  const found: { root: string; resource: string }[] = [];
  for (const root of roots) {
    const document = JSON.parse((await server.sendAsAdmin('GET', root)).text) as {
      resources: { name: string; verbs: string[] }[];
    };
    for (const { name, verbs } of document.resources) if (verbs.includes('list')) found.push({ root, resource: name });
  }
  return found;
}
