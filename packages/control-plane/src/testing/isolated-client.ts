import type { KubernetesObject, LabelSelector, Resource } from '@bowline/kubernetes';
import type { Client, WatchEvent, WatchStream } from '@bowline/runtime/client';
import type { TestNames } from './test-names.ts';

/**
 * Labels the namespaces of a test with the name of the first of them; webhooks and admission policies apply to these
 * alone.
 */
export const CLUSTER_LABEL = 'test.bowline.dev/cluster';

/** ofCluster returns the selector of a test's namespaces; `cluster` is the name of the first of them. */
export function ofCluster(cluster: string): LabelSelector {
  return { matchExpressions: [{ key: CLUSTER_LABEL, operator: 'In', values: [cluster] }] };
}

/** The label that selects a namespace by its name. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/**
 * limitedToCluster returns a namespace selector that selects only namespaces of a test. One that selects namespaces by
 * name is returned unchanged: these are the test's, and an operator that cannot read namespaces knows no other label of
 * them.
 */
export function limitedToCluster(selector: LabelSelector = {}, cluster: string): LabelSelector {
  const { matchExpressions = [], ...others } = selector;
  if (matchExpressions.some(({ key, operator }) => key === NAMESPACE_NAME && operator === 'In')) return selector;
  return { ...others, matchExpressions: [...matchExpressions, ...(ofCluster(cluster).matchExpressions ?? [])] };
}

/**
 * isolatedClient returns a client whose lists and watches leave out the objects of other tests: those in their
 * namespaces, and cluster-scoped objects with a name of theirs. Test files share a control plane and run at the same
 * time, and an operator under test must not reconcile another test's objects. Everything else, including reads of
 * single objects, is passed through.
 */
export function isolatedClient(client: Client, ours: TestNames): Client {
  const isForeign = (kind: Resource, { metadata }: KubernetesObject): boolean =>
    ours.belongsToOtherTest(kind.scope === 'Cluster' ? metadata?.name : metadata?.namespace);
  const replaced: Pick<
    Client,
    'list' | 'watch' | 'guarded' | 'checked' | 'withFieldManager' | 'withToken' | 'onLeaseLane'
  > = {
    async list(kind, options) {
      const list = await client.list(kind, options);
      return { ...list, items: list.items.filter((item) => !isForeign(kind, item)) };
    },
    watch: async (kind, options) =>
      new FilteredWatchStream(await client.watch(kind, options), (event) => {
        return event.type === 'BOOKMARK' || !isForeign(kind, event.object);
      }),
    guarded: (guard) => isolatedClient(client.guarded(guard), ours),
    checked: (check) => isolatedClient(client.checked(check), ours),
    withFieldManager: (name) => isolatedClient(client.withFieldManager(name), ours),
    withToken: (token) => isolatedClient(client.withToken(token), ours),
    onLeaseLane: () => isolatedClient(client.onLeaseLane(), ours),
  };
  return new Proxy(client, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof typeof replaced];
      const member: unknown = Reflect.get(target, name, target);
      // A method accesses its private state through the client itself, not through this proxy.
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

class FilteredWatchStream<T> implements WatchStream<T> {
  readonly #stream: WatchStream<T>;
  readonly #keep: (event: WatchEvent<T>) => boolean;

  constructor(stream: WatchStream<T>, keep: (event: WatchEvent<T>) => boolean) {
    this.#stream = stream;
    this.#keep = keep;
  }

  async *batches(): AsyncGenerator<readonly WatchEvent<T>[]> {
    for await (const batch of this.#stream.batches()) yield batch.filter(this.#keep);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>> {
    for await (const event of this.#stream) if (this.#keep(event)) yield event;
  }

  aliveAt(): number {
    return this.#stream.aliveAt();
  }
}
