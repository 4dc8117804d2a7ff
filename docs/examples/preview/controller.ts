import { Deployment, Ingress, Service } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { controller, slow } from '@bowline/runtime';
import { availability, desiredDeployment, desiredIngress, desiredService, expiryOf, hostName } from './desired.ts';
import type { Dns } from './dns.ts';
import { Preview } from './preview.ts';

/** PreviewDeps is what the controller needs besides the cluster. */
export interface PreviewDeps {
  readonly dns: Dns;
  /** What every address ends with. */
  readonly domain: string;
  /** Where the cluster takes requests from outside. */
  readonly gateway: string;
}

/** previewController keeps a Deployment, a Service, an Ingress and a DNS record for every Preview. */
export const previewController = controller(Preview, { concurrency: 4 })
  .using<PreviewDeps>()
  .owns(Deployment)
  .owns(Service)
  .owns(Ingress)
  .reconcile(async ({ object, key, apply, live, deps, clock, signal, status, event, log }) => {
    const { dns, domain, gateway } = deps;
    const { uid } = object.metadata;
    const expiresAt = expiryOf(object);
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) {
      event('Normal', 'Expired', `it was kept for ${object.spec.keepFor}`);
      await live.delete(Preview, key, { preconditions: { uid } });
      log.info('deleted a preview whose time is over');
      return;
    }

    const host = hostName(object, domain);
    status.set({ url: `https://${host}`, expiresAt: formatTime(expiresAt) });
    const { object: deployment } = await apply(Deployment, desiredDeployment(object));
    await apply(Service, desiredService(object));
    await apply(Ingress, desiredIngress(object, domain));

    if (!(await dns.point(host, { target: gateway, owner: uid }, signal))) {
      throw slow('HostTaken', `${host} belongs to somebody else: choose another spec.host in a new Preview`);
    }

    const missing = availability(deployment);
    if (missing) status.condition('Ready', false, 'Starting', missing);
    else event('Normal', 'Available', `serves at https://${host}`);
    return { requeueAfterMs: leftMs };
  })
  .cleanup(async ({ object, deps, signal }) => {
    await deps.dns.release(hostName(object, deps.domain), object.metadata.uid, signal);
  });
