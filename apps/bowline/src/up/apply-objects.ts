import { apiVersionOf, type KubernetesObject, keyOf, type Resource, resource } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';

interface ServedKind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** ServedKinds resolves the kinds of a cluster by name, as `kubectl apply` does. */
export class ServedKinds {
  readonly #client: Pick<Client, 'raw'>;
  readonly #byVersion = new Map<string, Promise<readonly ServedKind[]>>();

  constructor(client: Pick<Client, 'raw'>) {
    this.#client = client;
  }

  /** resourceOf returns the kind of an object, from its apiVersion and kind. */
  async resourceOf({ apiVersion = '', kind = '' }: KubernetesObject): Promise<Resource<KubernetesObject>> {
    const served = (await this.#servedIn(apiVersion)).find((each) => each.kind === kind && !each.name.includes('/'));
    if (!served) {
      throw new BowlineError(
        'BOWLINE_KINDS_MISSING',
        `the cluster does not serve ${kind} in ${apiVersion}; install its CustomResourceDefinition`,
      );
    }
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const scope = served.namespaced ? 'Namespaced' : 'Cluster';
    return resource({ group, version, kind, plural: served.name, scope });
  }

  #servedIn(apiVersion: string): Promise<readonly ServedKind[]> {
    let known = this.#byVersion.get(apiVersion);
    if (!known) {
      known = this.#client
        .raw(apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)
        .then((text) => (JSON.parse(text) as { resources: readonly ServedKind[] }).resources);
      this.#byVersion.set(apiVersion, known);
    }
    return known;
  }
}

/** applyObjects applies objects in the given order; other fields that they have stay unchanged. */
export async function applyObjects(
  client: Client,
  objects: readonly KubernetesObject[],
  signal: AbortSignal,
): Promise<void> {
  const kinds = new ServedKinds(client);
  for (const object of objects) {
    const kind = await kinds.resourceOf(object);
    const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    const options = { fieldManager: 'bowline-up', signal };
    await client.patch(kind, keyOf(object), { type: 'apply', body, force: true }, options);
  }
}
