import { keyOf, type ObjectKey, Secret, Service } from '@bowline/kubernetes';
import { controller } from '@bowline/runtime';
import type { CertificateAuthority } from '@bowline/runtime/certificates';

/** LinkDeps holds the dependencies of the controller besides the cluster. */
export interface LinkDeps {
  readonly authority: CertificateAuthority;
}

/** serverNameOf returns the name that the manager expects in the certificate of a Service, whatever its address is. */
export function serverNameOf({ namespace, name }: ObjectKey): string {
  return `${name}.${namespace}.links`;
}

/** servers keeps a certificate of its own for each Service with the label, in the namespace of the Service. */
export const servers = controller(Service, { labelSelector: 'example.com/mutual-tls' })
  .using<LinkDeps>()
  .owns(Secret)
  .triggeredBy('authority', async function* (signal, { authority }, cache) {
    for await (const _ of authority.changes(signal)) yield* cache.list(Service).map(keyOf);
  })
  .reconcile(async ({ key, deps: { authority }, live, apply, clock }) => {
    // The trigger runs this again once there is a CA.
    if (!authority.current) return undefined;
    const metadata = { namespace: key.namespace, name: `${key.name}-tls` };
    const existing = await live.find(Secret, metadata);
    const request = { names: [serverNameOf(key)], usages: ['server'] } as const;
    const { data, checkAt } = await authority.issue(existing, request);
    await apply(Secret, { metadata, type: 'kubernetes.io/tls', data });
    return { requeueAfterMs: Math.max(checkAt - clock.now(), 1_000) };
  });
