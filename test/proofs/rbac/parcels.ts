import { ConfigMap, Namespace, NetworkPolicy, Secret, ServiceAccount, SubjectAccessReview } from '@bowline/kubernetes';
import { LimitRange } from '@bowline/kubernetes/core-v1';
import { allow, controller, defineOperator, installNamespace, mutating, OWN_NAMESPACE } from '@bowline/runtime';
import { defineResource, s } from '@bowline/runtime/resource';

/** Parcel is a kind whose operator declares whatever the examples do not. */
export const Parcel = defineResource({
  group: 'proof.bowline.dev',
  version: 'v1',
  kind: 'Parcel',
  scope: 'Namespaced',
  spec: s.object({
    address: s.string(),
    /** Whether a ConfigMap is created. */
    wrapped: s.boolean().default(true),
    /** The name of a ServiceAccount; empty for none. */
    courier: s.string().default(''),
  }),
  status: s.object({ route: s.string().optional() }),
});

/** On a Namespace: the route in the status of its parcels. */
export const ROUTE = 'proof.bowline.dev/route';
/** On a Parcel: the number of LimitRanges when it was created. */
export const LIMITS = 'proof.bowline.dev/limits';
/** In the manager's namespace: what a Parcel needs to be sent. */
export const POSTAGE = 'postage';

/** The object of a declared name, in a namespace that is a setting. */
export const DEPOT = 'depot';
const DEPOTS = { 'proof.bowline.dev/depot': 'yes' };

const depot = installNamespace('depot', (config: { readonly depot: string }) => config.depot);

const COURIERS = { 'proof.bowline.dev/courier': 'yes' };

const parcelController = controller(Parcel)
  .using<{ readonly namespace: string; readonly depot: string }>()
  .watches(Namespace, {
    view: 'metadata',
    map: ({ metadata }, { list }) =>
      list(Parcel, { namespace: metadata?.name ?? '' }).map((each) => ({
        namespace: metadata?.name,
        name: each.metadata?.name ?? '',
      })),
  })
  .applies(ConfigMap, { remove: true })
  .applies(ServiceAccount, { remove: true })
  .applies(NetworkPolicy, { remove: true, names: [DEPOT], namespaces: [depot.name] })
  .reconcile(async ({ object, key, deps, get, live, apply, remove, status, event }) => {
    const { address, wrapped, courier } = object.spec;
    await live.get(Secret, { namespace: deps.namespace, name: POSTAGE });
    await live.canSubject({ user: 'nobody' }, { verb: 'get', resource: 'pods' });

    if (wrapped) await apply(ConfigMap, { metadata: key, data: { address } });
    else await remove(ConfigMap, key);
    const place = { namespace: deps.depot, name: DEPOT };
    if (wrapped) {
      const desired = { metadata: place, spec: { podSelector: { matchLabels: { address } } } };
      await apply(NetworkPolicy, desired, { owner: null, labels: DEPOTS });
    } else await remove(NetworkPolicy, place, { labels: DEPOTS });

    const account = { namespace: key.namespace, name: courier || 'courier' };
    if (courier) {
      await apply(ServiceAccount, { metadata: account }, { labels: COURIERS });
      await live.requestToken(account);
    } else {
      await remove(ServiceAccount, account, { labels: COURIERS });
    }
    const { metadata } = get(Namespace, { name: key.namespace ?? '' }) ?? {};
    status.set({ route: metadata?.annotations?.[ROUTE] ?? 'none' });
    event('Normal', 'Addressed', `goes to ${address}`);
  })
  .cleanup(({ event }) => event('Normal', 'Returned', 'goes back'));

const counted = mutating(Parcel, { name: 'counted', operations: ['CREATE'], failurePolicy: 'Fail' })
  .reads(LimitRange, { view: 'metadata' })
  .handle(({ object, namespace, list }) => {
    const annotations = { ...object.metadata?.annotations, [LIMITS]: String(list(LimitRange, { namespace }).length) };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });

/** parcels declares every kind of permission that can be declared and that no example needs. */
export const parcels = defineOperator({
  name: 'parcels',
  domain: 'bowline.dev',
  resources: [Parcel],
  config: s.object({ depot: s.string() }),
  namespaces: [depot],
  controllers: [parcelController],
  webhooks: [counted],
  permissions: [
    allow(['get'], Secret, { names: [POSTAGE], namespaces: [OWN_NAMESPACE] }),
    allow(['create'], ServiceAccount, { subresource: 'token' }),
    allow(['create'], SubjectAccessReview),
  ],
  setup: ({ namespace, config }) => ({ namespace, depot: config.depot }),
});
